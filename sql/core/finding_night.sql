-- ---
-- about = "How often a trigger found something in a user's program in a night, and what that cost."
-- grain = []
-- reads = ["lake.finding_night"]
-- ---
SELECT *
FROM lake.finding_night
