-- ---
-- about = "What the directed links of a fabric did in each ten minutes of a night; all, or those of a list."
-- parts = []
-- reads = ["core.link_night"]
-- parameters = ["cluster", "night", "senders"]
-- ---
SELECT
    guid || '/' || port AS sender, utilisation_levels, storage_levels, waiting_levels, error_levels, multicast_levels
FROM core.link_night
WHERE cluster = $cluster AND night = $night AND ($senders IS NULL OR guid || '/' || port IN (SELECT unnest($senders::VARCHAR [])))
