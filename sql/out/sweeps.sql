-- ---
-- about = "The sweeps: what each was given, found, read and rejected."
-- grain = ["sweep_id"]
-- reads = ["core.sweep"]
-- ---
SELECT * EXCLUDE (table_versions)
FROM core.sweep
