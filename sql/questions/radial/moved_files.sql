-- ---
-- about = "Names of the files with most bytes moved, the number of all files, and their layer."
-- parts = ["requested", "top_file"]
-- reads = ["core.file_name"]
-- parameters = []
-- ---
SELECT
    path, mount, (SELECT COUNT(DISTINCT file_id) FROM requested) AS file_count, (SELECT MAX(layer) FROM requested) AS layer, file_id
FROM top_file
LEFT JOIN (SELECT * FROM core.file_name WHERE cluster = $cluster AND night = $night AND log_id = $log_id) USING (file_id)
ORDER BY file_number
