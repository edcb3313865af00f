-- ---
-- about = "A counter of a target, for all or for a job or client, at the time of reading."
-- grain = []
-- reads = ["lake.lustre_counter"]
-- ---
SELECT *
FROM lake.lustre_counter
