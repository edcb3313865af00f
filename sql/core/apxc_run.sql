-- ---
-- about = "The part of an Aries network that a run touched."
-- grain = ["log_id"]
-- reads = ["lake.apxc_run"]
-- ---
SELECT *
FROM lake.apxc_run
