-- ---
-- about = "Links that were faulty in some of the nights, with what was wrong when it was worst; the longest first."
-- parts = []
-- reads = ["main.link_faults"]
-- parameters = ["first_night", "last_night"]
-- ---
WITH port AS (
    -- What is wrong is listed at both ends of a link, and may have begun in a night before.
    SELECT
        *, faulty_slot_count * 600 AS faulty_seconds,
        format('{} port {} - {} port {}', device, port, coalesce(peer_device, '?'), coalesce(peer_port, 0)) AS link_name
    FROM main.link_faults
    WHERE is_faulty AND begin_at < ($last_night::DATE + INTERVAL 1 DAY) AT TIME ZONE 'UTC'
        AND end_at > $first_night::TIMESTAMP AT TIME ZONE 'UTC'
),
ended AS (
    SELECT
        cluster, link_id, guid, port, min(link_name) AS link_name, sum(faulty_seconds)::DOUBLE AS faulty_seconds,
        arg_max(trouble, faulty_seconds ORDER BY begin_at) AS trouble
    FROM port
    GROUP BY ALL
)
SELECT
    cluster, arg_min(link_name, (guid, port)) AS link_name, arg_max(trouble, faulty_seconds ORDER BY guid, port) AS trouble,
    max(faulty_seconds) AS faulty_seconds
FROM ended
GROUP BY cluster, link_id
ORDER BY faulty_seconds DESC, cluster, link_name
