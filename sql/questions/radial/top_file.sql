-- ---
-- about = "The files with most bytes moved, by number."
-- parts = ["requested"]
-- reads = []
-- parameters = ["most_files"]
-- ---
SELECT file_id, row_number() OVER (ORDER BY SUM(length_bytes) DESC, file_id) - 1 AS file_number
FROM requested
GROUP BY file_id
QUALIFY file_number < $most_files
