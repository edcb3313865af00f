-- ---
-- about = "How often each trigger found something of each user, what that cost, the facility's part, and whether it grows."
-- grain = ["user", "uid", "code"]
-- reads = ["core.finding_sum"]
-- ---
SELECT * EXCLUDE (grouped_by, level, user_count)
FROM core.finding_sum
WHERE grouped_by = 'user and code'
ORDER BY
    cost_core_seconds - COALESCE(facility_cost_core_seconds, 0) DESC NULLS LAST, finding_count DESC, "user", uid, code
