-- ---
-- about = "How often each trigger found something of each user, what that cost, and whether it grows."
-- grain = ["user", "uid", "code"]
-- reads = ["core.finding_sum"]
-- ---
SELECT * EXCLUDE (grouped_by, level, user_count)
FROM core.finding_sum
WHERE grouped_by = 'user and code'
ORDER BY cost_core_seconds DESC NULLS LAST, finding_count DESC, "user", uid, code
