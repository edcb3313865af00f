-- ---
-- about = "How the targets of one kind dealt with what a log asked of them, and who else kept them busy."
-- grain = []
-- reads = ["lake.weather"]
-- ---
SELECT *
FROM lake.weather
