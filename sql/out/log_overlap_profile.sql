-- ---
-- about = "How the ranks of one log met in files: bytes that several moved, stripes that several wrote, requests across stripes."
-- grain = ["log_id"]
-- reads = ["core.log_overlap_profile"]
-- ---
SELECT *
FROM core.log_overlap_profile
