-- ---
-- about = "A module of a log whose records are not all known: it could not be read whole, or Darshan ran out of memory for it."
-- grain = ["log_id", "module"]
-- reads = ["core.module"]
-- ---
SELECT cluster, night, log_id, module
FROM core.module
WHERE state <> 'read' OR is_partial
