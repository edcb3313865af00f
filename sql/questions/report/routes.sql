-- ---
-- about = "What is known of the way of each log's bytes over the fabric."
-- parts = []
-- reads = ["core.job_route"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT
    log_id, moved_bytes, routed_bytes, switch_count, leaf_switch_count, tier_count, same_switch_ratio, fabric_evidence,
    unrouted_reason
FROM core.job_route
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
