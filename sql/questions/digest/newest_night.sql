-- ---
-- about = "The newest night of all machines; none is newer than today, whatever a log's clock said."
-- parts = []
-- reads = ["core.newest_night"]
-- parameters = []
-- ---
SELECT max(last_night) AS night
FROM core.newest_night
