-- ---
-- about = "Nights of which it is known what OSTs did, the newest first, by machine."
-- parts = []
-- reads = ["core.ost_io"]
-- parameters = []
-- ---
SELECT DISTINCT cluster, night
FROM core.ost_io
WHERE ost_id IS NOT NULL
ORDER BY cluster, night DESC
