-- ---
-- about = "The inputs that could not be read, and why."
-- grain = []
-- reads = ["core.reject"]
-- ---
SELECT path, sha256, size_bytes, stage, reason, "at", is_final, reader_version
FROM core.reject
