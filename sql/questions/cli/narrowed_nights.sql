-- ---
-- about = "The first and the last night with logs that the options other than nights select."
-- parts = ["narrowed_log", "narrowed_night"]
-- reads = []
-- parameters = []
-- ---
SELECT min(night) AS first_night, max(night) AS last_night
FROM (SELECT night FROM narrowed_log UNION ALL SELECT night FROM narrowed_night)
