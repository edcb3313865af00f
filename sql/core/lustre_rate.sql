-- ---
-- about = "A rate of a target over an interval, where the input has rates and no counters."
-- grain = []
-- reads = ["lake.lustre_rate"]
-- ---
SELECT *
FROM lake.lustre_rate
