-- ---
-- about = "In how many runs of an application two codes were signs of one cause."
-- parts = ["fired"]
-- reads = []
-- parameters = []
-- ---
SELECT cluster, recipient, "user", application, one.code, other.code AS other_code, count(*) AS run_count
FROM fired AS one
JOIN fired AS other USING (cluster, night, log_id, recipient, "user", application)
WHERE one.code <> other.code AND one.cause_code = other.cause_code
GROUP BY ALL
