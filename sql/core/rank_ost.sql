-- ---
-- about = "The OST on which most of a rank's time in requests lies, and that time, as far as the OST of requests is known."
-- grain = ["log_id", "layer", "rank"]
-- reads = ["lake.rank_ost"]
-- ---
SELECT *
FROM lake.rank_ost
