-- ---
-- about = "Hours, summed over links, in which jobs, or storage and other traffic, shared a link at least half full, by night, with names."
-- parts = []
-- reads = ["core.link_hour"]
-- parameters = ["night", "night_before"]
-- ---
SELECT night, count(*) AS value, list(DISTINCT link_name ORDER BY link_name) AS link_names
FROM (
    SELECT
        night, cluster, link_id, begin_at,
        arg_min(format('{} port {} - {} port {}', device, port, coalesce(peer_device, '?'), coalesce(peer_port, 0)), (guid, port)) AS link_name
    FROM core.link_hour
    WHERE night IN ($night, $night_before) AND peak_utilisation_ratio >= 0.5
        AND (job_count > 1 OR least(storage_bytes, other_bytes) >= 0.25 * greatest(counted_bytes, storage_bytes))
    GROUP BY ALL
)
GROUP BY night
