-- ---
-- about = "What a warehouse holds, in numbers."
-- parts = []
-- reads = ["main.logs", "main.findings", "main.rejects", "main.failed_derivations"]
-- parameters = []
-- ---
SELECT
    (SELECT count(*) FROM main.logs) AS log_count,
    -- Read from an archive: the path is that of a tar file, with the log's name there.
    (SELECT count(*) FROM main.logs WHERE path LIKE '%.tar#%') AS packed_count,
    (SELECT count(DISTINCT night) FROM main.logs) AS night_count,
    (SELECT min(night) FROM main.logs) AS first_night, (SELECT max(night) FROM main.logs) AS last_night,
    (SELECT count(*) FROM main.findings) AS finding_count, (SELECT count(*) FROM main.rejects) AS reject_count,
    (SELECT count(*) FROM main.failed_derivations) AS failed_count
