-- ---
-- about = "What Darshan of one version saw on a machine in a night: what one log shows that it can count holds for the others."
-- grain = ["cluster", "night", "darshan_version"]
-- reads = ["lake.darshan_build"]
-- ---
SELECT *
FROM lake.darshan_build
