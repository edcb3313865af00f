-- ---
-- about = "Names of the files of which most was moved, and how many files and what layer there are."
-- parts = ["requested", "top_file"]
-- reads = ["core.file_name"]
-- parameters = []
-- ---
SELECT
    path, mount, (SELECT COUNT(DISTINCT file_id) FROM requested) AS file_count, (SELECT MAX(layer) FROM requested) AS layer, file_id
FROM top_file
LEFT JOIN (SELECT * FROM core.file_name WHERE cluster = $cluster AND night = $night AND log_id = $log_id) USING (file_id)
ORDER BY file_number
