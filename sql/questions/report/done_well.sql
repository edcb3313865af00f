-- ---
-- about = "What triggers find on the site and did not find in a log that could show it; first what they found most often in 90 nights."
-- parts = []
-- reads = ["core.finding_night", "core.verdict"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH clear AS (
    SELECT night, log_id, code, value, bar
    FROM core.verdict
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND ruleset = 'iomine' AND state = 'clear' AND level IN ('high', 'warn')
),
found AS (
    SELECT night AS found_night, code, sum(finding_count) AS finding_count
    FROM core.finding_night
    WHERE night BETWEEN $first_night::DATE - 90 AND $last_night
    GROUP BY ALL
),
often AS (
    SELECT night, code, sum(finding_count) AS site_finding_count
    FROM (SELECT DISTINCT night FROM clear)
    JOIN found ON found_night BETWEEN night - 90 AND night
    GROUP BY ALL
)
SELECT log_id, code, value, bar
FROM clear
JOIN often USING (night, code)
ORDER BY site_finding_count DESC, code
