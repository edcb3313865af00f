-- ---
-- about = "Links that were faulty, by night, with their names."
-- parts = []
-- reads = ["core.link_hour"]
-- parameters = ["night", "night_before"]
-- ---
SELECT night, count(*) AS value, list(link_name ORDER BY link_name) AS link_names
FROM (
    SELECT
        night, cluster, link_id,
        arg_min(format('{} port {} - {} port {}', device, port, coalesce(peer_device, '?'), coalesce(peer_port, 0)), (guid, port)) AS link_name
    FROM core.link_hour
    WHERE night IN ($night, $night_before) AND faulty_slot_count > 0
    GROUP BY ALL
)
GROUP BY night
