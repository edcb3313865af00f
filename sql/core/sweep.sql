-- ---
-- about = "One run over the inputs; the last row says which versions of all tables belong together."
-- grain = ["sweep_id"]
-- reads = ["lake.sweep"]
-- ---
SELECT *
FROM lake.sweep
