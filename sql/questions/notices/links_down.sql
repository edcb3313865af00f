-- ---
-- about = "Links that are down at the end of a night, or that were there in the 30 nights before and are gone, with their names."
-- parts = []
-- reads = ["main.fabric_links"]
-- parameters = ["night", "night_before"]
-- ---
WITH asked AS (
    SELECT unnest([$night::DATE, $night_before::DATE]) AS night, (night + INTERVAL 1 DAY) AT TIME ZONE 'UTC' AS end_at
),
known AS (
    SELECT asked.night, end_at, link.* EXCLUDE (night)
    FROM asked
    JOIN main.fabric_links AS link ON held_from_at < end_at
    QUALIFY row_number() OVER (PARTITION BY asked.night, cluster, link_id ORDER BY held_from_at DESC) = 1
)
SELECT
    night, count(*) AS value,
    list(format('{} port {} - {} port {}', device, port, peer_device, peer_port) ORDER BY device, port, link_id) AS link_names
FROM known
WHERE NOT is_up OR (is_missing AND held_until_at < end_at AND held_until_at >= end_at - INTERVAL 30 DAY)
GROUP BY night
