-- ---
-- about = "What is known of the rings of logs' circles."
-- parts = []
-- reads = ["core.link_ring"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT
    log_id, ring, op, carrier_kind, place_kind, request_count, matched_count, negative_count, begin_seconds, bin_seconds,
    skew_seconds, skew_host, skew_rank, striped_by_ratio, missing
FROM core.link_ring
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
ORDER BY log_id, ring DESC, op
