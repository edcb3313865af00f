-- ---
-- about = "The newest night that links or logs are known of."
-- parts = []
-- reads = ["core.app_night", "core.link_hour"]
-- parameters = ["today"]
-- ---
SELECT max(night) AS night
FROM (
    SELECT night FROM core.app_night
    UNION ALL
    -- Of a year of links only the last days are looked through.
    SELECT night FROM core.link_hour WHERE night >= $today::DATE - 2
)
WHERE night <= $today::DATE
