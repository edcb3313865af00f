-- ---
-- about = "A rank that spent most of its time in POSIX requests on an OST that was slow for its log, and that OST."
-- grain = ["log_id", "rank"]
-- reads = ["core.ost_pace", "core.rank_ost"]
-- ---
SELECT cluster, night, log_id, rank, ost_id
FROM (FROM core.rank_ost WHERE layer = 'posix')
SEMI JOIN (FROM core.ost_pace WHERE is_slow AND layer = 'posix') USING (cluster, night, log_id, ost_id)
