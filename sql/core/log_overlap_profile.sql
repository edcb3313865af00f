-- ---
-- about = "How the ranks of one log met in files: bytes that several moved, stripes that several wrote, requests across stripes."
-- grain = ["log_id"]
-- reads = ["lake.log_overlap_profile"]
-- ---
SELECT *
FROM lake.log_overlap_profile
