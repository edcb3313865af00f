-- ---
-- about = "What a log's I/O moved over a link, and in how many of its ten minutes something was wrong there."
-- grain = ["log_id", "link_id"]
-- reads = ["core.job_link", "core.job_route", "core.link_trouble", "core.link_slot", "core.link_span"]
-- ---
WITH route AS (
    SELECT cluster, night, log_id, moved_bytes AS log_bytes, straggler_bytes AS log_straggler_bytes
    FROM core.job_route
),
moved AS (
    SELECT
        cluster, route.night, log_id, MAX(log_bytes) AS log_bytes, MAX(log_straggler_bytes) AS log_straggler_bytes,
        any_value(job_id) AS job_id, any_value("user") AS "user", link_id, guid, port, begin_at,
        SUM(moved_bytes) AS bytes, SUM(moved_bytes) FILTER (op = 'read') AS reads, SUM(moved_bytes) FILTER (op = 'write') AS writes,
        SUM(straggler_bytes) AS straggler_bytes, bool_or(is_host_link) AS is_host_link, bool_or(is_server_link) AS is_server_link
    FROM core.job_link
    JOIN route USING (cluster, log_id)
    WHERE moved_bytes > 0
    GROUP BY cluster, route.night, log_id, link_id, guid, port, begin_at
),
-- Errors of a link concern both of its directions: the acknowledgements go the other way.
fault AS (
    SELECT
        cluster, link_id, begin_at,
        first(trouble ORDER BY COALESCE(link_downed_count, 0) DESC, COALESCE(symbol_error_count, 0) DESC, trouble DESC) AS trouble
    FROM core.link_trouble
    WHERE is_faulty
    GROUP BY ALL
),
fullness AS (
    SELECT cluster, guid, port, begin_at, MAX(trouble) AS trouble
    FROM core.link_trouble
    WHERE is_congested
    GROUP BY ALL
),
slot AS (
    SELECT
        cluster, guid, port, begin_at, SUM(counted_bytes) AS counted_bytes, SUM(storage_bytes) AS storage_bytes,
        SUM(other_bytes) AS other_bytes, MAX(utilisation_ratio) AS utilisation_ratio
    FROM core.link_slot
    GROUP BY ALL
),
seen AS (
    SELECT
        moved.*, fault.trouble AS fault_trouble, fullness.trouble AS full_trouble, counted_bytes IS NOT NULL AS is_counted,
        -- Each has at least a quarter of a link that is at least half full.
        COALESCE(
            utilisation_ratio >= 0.5 AND storage_bytes >= 0.25 * counted_bytes AND slot.other_bytes >= 0.25 * counted_bytes, FALSE
        ) AS is_collision,
        CASE WHEN fault_trouble IS NOT NULL OR full_trouble IS NOT NULL OR is_collision THEN bytes END AS ill_bytes,
        CASE WHEN ill_bytes > 0 THEN GREATEST(counted_bytes, storage_bytes, bytes) END AS ill_all_bytes,
        CASE WHEN ill_bytes > 0 THEN slot.other_bytes END AS ill_other_bytes
    FROM moved
    LEFT JOIN fault USING (cluster, link_id, begin_at)
    LEFT JOIN fullness USING (cluster, guid, port, begin_at)
    LEFT JOIN slot USING (cluster, guid, port, begin_at)
),
other AS (
    SELECT
        seen.cluster, seen.log_id, seen.link_id,
        CASE WHEN job.job_id <> '' THEN format('{} (job {})', COALESCE(NULLIF(job."user", ''), 'someone'), job.job_id)
        ELSE format('{} (log {})', COALESCE(NULLIF(job."user", ''), 'someone'), job.log_id) END AS who,
        SUM(job.moved_bytes) AS bytes
    FROM (FROM seen WHERE ill_bytes > 0) AS seen
    JOIN core.job_link AS job
        ON job.cluster = seen.cluster AND job.guid = seen.guid AND job.port = seen.port AND job.begin_at = seen.begin_at
    WHERE job.log_id <> seen.log_id AND (job.job_id = '' OR job.job_id <> COALESCE(seen.job_id, '')) AND job.moved_bytes > 0
    GROUP BY ALL
),
met AS (
    SELECT
        cluster, log_id, link_id, string_agg(who, ', ' ORDER BY bytes DESC, who) FILTER (place <= 3) AS others,
        COUNT(*) AS other_count
    FROM (SELECT *, row_number() OVER (PARTITION BY cluster, log_id, link_id ORDER BY bytes DESC, who) AS place FROM other)
    GROUP BY ALL
),
both_ways AS (
    SELECT
        cluster, night, log_id, link_id, begin_at, MAX(log_bytes) AS log_bytes, MAX(log_straggler_bytes) AS log_straggler_bytes,
        SUM(bytes) AS bytes, SUM(reads) AS reads, SUM(writes) AS writes, SUM(straggler_bytes) AS straggler_bytes,
        bool_or(is_host_link) AS is_host_link, bool_or(is_server_link) AS is_server_link, bool_and(is_counted) AS is_counted,
        MAX(fault_trouble) AS fault_trouble, arg_max(full_trouble, bytes ORDER BY guid, port) AS full_trouble,
        bool_or(is_collision) AS is_collision, SUM(ill_bytes) AS ill_bytes, SUM(ill_all_bytes) AS ill_all_bytes,
        SUM(ill_other_bytes) AS ill_other_bytes
    FROM seen
    GROUP BY ALL
),
summed AS (
    SELECT
        cluster, night, log_id, link_id, MAX(begin_at) AS last_at,
        TRY_CAST(COALESCE(SUM(reads), 0) AS BIGINT) AS read_bytes, TRY_CAST(COALESCE(SUM(writes), 0) AS BIGINT) AS write_bytes,
        SUM(bytes) / NULLIF(MAX(log_bytes), 0) AS link_bytes_ratio,
        SUM(straggler_bytes) / NULLIF(MAX(log_straggler_bytes), 0) AS link_straggler_ratio,
        bool_or(is_host_link) AS is_host_link, bool_or(is_server_link) AS is_server_link, COUNT(*) AS io_slot_count,
        COUNT(*) FILTER (is_counted) AS counted_slot_count, COUNT(fault_trouble) AS faulty_slot_count,
        COUNT(full_trouble) AS congested_slot_count, COUNT(*) FILTER (is_collision) AS collision_slot_count,
        SUM(ill_bytes) / NULLIF(SUM(ill_all_bytes), 0) AS link_trouble_own_ratio,
        SUM(ill_other_bytes) / NULLIF(SUM(ill_all_bytes), 0) AS link_trouble_other_ratio,
        arg_max(fault_trouble, bytes ORDER BY begin_at DESC) AS faulty_trouble,
        arg_max(full_trouble, bytes ORDER BY begin_at DESC) AS congested_trouble
    FROM both_ways
    GROUP BY ALL
),
-- A link is named by its lesser end.
named AS (
    SELECT *
    FROM core.link_span
    WHERE link_id = guid || '/' || port
)
SELECT
    summed.log_id, summed.link_id, guid, port, peer_guid, peer_port, device, peer_device, read_bytes, write_bytes,
    link_bytes_ratio, link_straggler_ratio, is_host_link, is_server_link, io_slot_count, counted_slot_count, faulty_slot_count,
    congested_slot_count, collision_slot_count, link_trouble_own_ratio, link_trouble_other_ratio,
    others || CASE WHEN other_count > 3 THEN format(' and {:,} more', other_count - 3) ELSE '' END AS link_others,
    faulty_trouble, congested_trouble, node_kind, peer_node_kind, summed.night, summed.cluster
FROM summed
LEFT JOIN met USING (cluster, log_id, link_id)
ASOF LEFT JOIN named
    ON named.cluster = summed.cluster AND named.link_id = summed.link_id AND named.held_from_at <= summed.last_at
