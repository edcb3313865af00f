-- ---
-- about = "Traced requests of a rank in one direction, so close in time that a picture shows them as one; small is below 1 MiB."
-- grain = ["log_id", "layer", "detail_level", "rank", "op", "start_seconds"]
-- reads = ["lake.rank_detail"]
-- ---
SELECT *
FROM lake.rank_detail
