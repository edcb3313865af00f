-- ---
-- about = "What a log opened that is no file on storage: a standard stream, device, pipe or socket, or a file of the kernel."
-- grain = ["log_id", "file_id"]
-- reads = ["lake.special_file"]
-- ---
SELECT *
FROM lake.special_file
