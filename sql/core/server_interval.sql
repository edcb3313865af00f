-- ---
-- about = "What a target did between two readings, for all or for a job or client."
-- grain = []
-- reads = ["lake.server_interval"]
-- ---
-- The scheduler's id stands in front of what Lustre keeps, where the site has it so; a program's name has none.
SELECT *, CASE WHEN scope = 'job' THEN regexp_extract(owner, '^([0-9]+)([^0-9A-Za-z].*)?$', 1) ELSE '' END AS job_id
FROM lake.server_interval
