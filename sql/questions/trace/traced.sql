-- ---
-- about = "Traced requests of logs, and whether their times are possible; the question requests adds the OSTs on which they begin."
-- parts = []
-- reads = ["core.segment"]
-- # ended_seconds: by which the requests of each of the log_ids have to have ended.
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids", "ended_seconds"]
-- ---
SELECT *, start_seconds >= 0 AND end_seconds >= start_seconds AND end_seconds <= ended_seconds AS is_sound
FROM core.segment
JOIN (SELECT unnest($log_ids) AS log_id, unnest($ended_seconds) AS ended_seconds) AS ended USING (log_id)
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
