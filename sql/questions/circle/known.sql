-- ---
-- about = "How many logs of a night that moved bytes on OSTs have a known switch, or a known host."
-- parts = []
-- reads = ["core.log_host", "core.log_link", "core.ost_io"]
-- parameters = ["cluster", "night"]
-- ---
WITH used AS (
    SELECT DISTINCT log_id
    FROM core.ost_io
    WHERE cluster = $cluster AND night = $night AND layer = 'posix' AND ost_id IS NOT NULL AND moved_bytes > 0
),
linked AS (
    SELECT DISTINCT log_id
    FROM core.log_link
    WHERE cluster = $cluster AND night = $night AND is_host_link
),
hosted AS (
    SELECT DISTINCT log_id
    FROM core.log_host
    WHERE cluster = $cluster AND night = $night
)
SELECT count(*) AS log_count, count(linked.log_id) AS switch_count, count(hosted.log_id) AS host_count
FROM used
LEFT JOIN linked USING (log_id)
LEFT JOIN hosted USING (log_id)
