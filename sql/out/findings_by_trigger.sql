-- ---
-- about = "How often each trigger found something, of how many users and applications, what that cost, the facility's part, and whether it grows."
-- grain = ["code"]
-- reads = ["core.finding_sum", "main.triggers"]
-- ---
SELECT sums.* EXCLUDE (grouped_by, "user", uid), title
FROM core.finding_sum AS sums
LEFT JOIN main.triggers AS triggers ON triggers.code = sums.code AND triggers.ruleset = 'iomine'
WHERE grouped_by = 'code'
ORDER BY cost_core_seconds DESC NULLS LAST, finding_count DESC, sums.code
