-- ---
-- about = "Who shares a directed link in the same ten minutes: pairs of jobs with their shares, and storage with other traffic."
-- grain = ["cluster", "night", "begin_at", "guid", "port", "sharing_kind", "log_id", "peer_log_id"]
-- reads = ["core.job_link", "core.link_slot", "core.owner_doubt"]
-- ---
-- Logs of one job are one, named by the log that moved most. Storage and other traffic count on links as full as the setting.
WITH mover AS NOT MATERIALIZED (
    SELECT
        cluster, night, begin_at, link_id, guid, port, COALESCE(NULLIF(job_id, ''), log_id) AS who,
        arg_max(log_id, moved_bytes ORDER BY log_id) AS log_id, MAX(job_id) AS job_id, MAX("user") AS "user", SUM(moved_bytes) AS bytes
    FROM core.job_link
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
    WHERE moved_bytes > 0
    GROUP BY cluster, night, begin_at, link_id, guid, port, who
),
slot AS NOT MATERIALIZED (
    SELECT
        cluster, night, begin_at, guid, port, SUM(counted_bytes) AS counted_bytes, SUM(storage_bytes) AS storage_bytes,
        SUM(other_bytes) AS other_bytes, MAX(utilisation_ratio) AS utilisation_ratio
    FROM core.link_slot
    GROUP BY ALL
),
-- A log that ends after midnight has met in the night before what links counted then. Not a join by time: DuckDB would read all nights.
counter AS NOT MATERIALIZED (
    FROM slot
    UNION ALL BY NAME
    SELECT * REPLACE (night + 1 AS night) FROM slot
),
on_link AS NOT MATERIALIZED (
    SELECT *, SUM(bytes) OVER link AS log_bytes, row_number() OVER (link ORDER BY bytes DESC, who) AS place
    FROM mover
    WINDOW link AS (PARTITION BY cluster, night, begin_at, guid, port)
)
SELECT
    begin_at, link_id, guid, port, 'jobs' AS sharing_kind, one.log_id, one.job_id, one."user", two.log_id AS peer_log_id,
    two.job_id AS peer_job_id, two."user" AS peer_user,
    one.bytes / GREATEST(counted_bytes, storage_bytes, one.log_bytes) AS link_share_ratio,
    two.bytes / GREATEST(counted_bytes, storage_bytes, one.log_bytes) AS peer_share_ratio, utilisation_ratio, night, cluster
FROM on_link AS one
JOIN (SELECT cluster, night, begin_at, guid, port, who, log_id, job_id, "user", bytes FROM on_link) AS two
    USING (cluster, night, begin_at, guid, port)
LEFT JOIN counter USING (cluster, night, begin_at, guid, port)
WHERE one.who < two.who
UNION ALL
SELECT
    begin_at, link_id, guid, port, 'other' AS sharing_kind, log_id, job_id, "user", NULL AS peer_log_id, NULL AS peer_job_id,
    NULL AS peer_user, storage_bytes / GREATEST(counted_bytes, storage_bytes) AS link_share_ratio,
    other_bytes / GREATEST(counted_bytes, storage_bytes) AS peer_share_ratio, utilisation_ratio, night, cluster
FROM on_link
JOIN counter USING (cluster, night, begin_at, guid, port)
WHERE place = 1 AND utilisation_ratio >= COALESCE(getvariable('shared_link_utilisation_ratio'), 0.5)
    AND LEAST(storage_bytes, other_bytes)
    >= COALESCE(getvariable('shared_link_least_ratio'), 0.25) * GREATEST(counted_bytes, storage_bytes)
