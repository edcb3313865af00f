-- ---
-- about = "Traced requests of one direction to an OST, so close in time that a picture shows them as one; small is below 1 MiB."
-- grain = ["log_id", "layer", "detail_level", "ost_id", "op", "start_seconds"]
-- reads = ["lake.ost_detail"]
-- ---
SELECT *
FROM lake.ost_detail
