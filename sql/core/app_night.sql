-- ---
-- about = "What a user's program did in a night under an account, and what its findings cost."
-- grain = []
-- reads = ["lake.app_night"]
-- ---
SELECT *
FROM lake.app_night
