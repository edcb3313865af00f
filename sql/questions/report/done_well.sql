-- ---
-- about = "What triggers find on the site and did not find in a log that could show it, the most often found first."
-- parts = []
-- reads = ["core.finding_night", "core.verdict"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH often AS (
    SELECT code, sum(finding_count) AS site_finding_count
    FROM core.finding_night
    GROUP BY ALL
)
SELECT log_id, code, value, bar
FROM (
    SELECT log_id, code, value, bar
    FROM core.verdict
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id) AND ruleset = 'iomine' AND state = 'clear' AND level IN ('high', 'warn')
)
JOIN often USING (code)
ORDER BY site_finding_count DESC, code
