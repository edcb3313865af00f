-- ---
-- about = "One layout component of a file on Lustre; a record without any has one row with the component left empty."
-- grain = ["log_id", "file_id", "rank", "component"]
-- reads = ["lake.lustre_component"]
-- ---
SELECT *, rank = -1 AS is_shared
FROM lake.lustre_component
