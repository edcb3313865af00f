-- ---
-- about = "What each log of a night moved between a node of the middle circle and an OST, with its user, program and hour."
-- parts = []
-- reads = ["core.log", "core.log_host", "core.log_link", "core.ost_io", "main.files"]
-- parameters = ["cluster", "night", "middle"]
-- ---
WITH part AS (
    -- A log's bytes on each OST are shared over its switches, hosts or mounts as all of its bytes in that direction are.
    SELECT log_id, op, middle, sum(part_bytes) AS part_bytes
    FROM (
        SELECT
            log_id, unnest(['read', 'write']) AS op, unnest([read_bytes, write_bytes]) AS part_bytes,
            CASE WHEN node_kind = 'switch' THEN coalesce(device, guid) ELSE coalesce(peer_device, peer_guid) END AS middle
        FROM core.log_link
        WHERE $middle = 'switch' AND cluster = $cluster AND night = $night AND is_host_link
            AND 'switch' IN (node_kind, peer_node_kind)
        UNION ALL
        -- Hosts whose names differ in their last two digits only.
        SELECT log_id, op, host_ratio AS part_bytes, regexp_replace(host, '[0-9]{1,2}([^0-9]*)$', '*\1') AS middle
        FROM core.log_host
        WHERE $middle = 'host' AND cluster = $cluster AND night = $night
        UNION ALL
        SELECT log_id, unnest(['read', 'write']) AS op, unnest([read_bytes, write_bytes]) AS part_bytes, mount AS middle
        FROM main.files
        WHERE $middle = 'mount' AND cluster = $cluster AND night = $night AND fs_type = 'lustre'
    )
    WHERE part_bytes > 0
    GROUP BY log_id, op, middle
),
share AS (
    SELECT log_id, op, middle, part_bytes / sum(part_bytes) OVER (PARTITION BY log_id, op) AS share
    FROM part
),
used AS (
    SELECT
        log_id, op, ost_id, sum(moved_bytes)::DOUBLE AS moved_bytes, sum(request_count)::DOUBLE AS request_count,
        sum(request_seconds) AS request_seconds
    FROM core.ost_io
    WHERE cluster = $cluster AND night = $night AND layer = 'posix' AND ost_id IS NOT NULL AND moved_bytes > 0
    GROUP BY log_id, op, ost_id
)
SELECT
    coalesce(log.user, '') AS "user", coalesce(log.app, '') AS app, coalesce(share.middle, '') AS middle, ost_id,
    (used.op = 'write')::UTINYINT AS op, coalesce(hour(log.end_at), 0)::UTINYINT AS hour,
    moved_bytes * coalesce(share, 1) AS moved_bytes, request_count * coalesce(share, 1) AS request_count,
    request_seconds / (moved_bytes / 1048576) AS pace_seconds
FROM used
JOIN (FROM core.log WHERE cluster = $cluster AND night = $night) AS log USING (log_id)
LEFT JOIN share ON share.log_id = used.log_id AND share.op = used.op
