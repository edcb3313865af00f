-- ---
-- about = "A log whose file, record, file name and accounting name several users, and what they say."
-- grain = ["cluster", "night", "log_id"]
-- reads = ["core.log", "core.job"]
-- ---
-- The writer of a log can write any uid into it, and give it any name; but nobody can give a file away, so its owner is known,
-- unless that is a collector, which wrote none of the logs that it owns. The owner of an archive may have written its headers.
WITH collector AS (
    -- 65534 and -2 stand for owners that this host cannot name.
    SELECT list_concat([65534, 4294967294], COALESCE(getvariable('collector_uids'), [])::BIGINT[]) AS uids
),
held AS (
    SELECT
        cluster, night, log_id, job_id, "user", uid, name_uid, start_at,
        -- Uids below 1000 are the system's.
        CASE WHEN archive_uid >= 1000 AND NOT list_contains(uids, archive_uid) THEN archive_uid ELSE owner_uid END AS holder_uid,
        CASE WHEN holder_uid >= 1000 AND NOT list_contains(uids, holder_uid) THEN holder_uid END AS writer_uid
    FROM core.log, collector
),
-- Ids of jobs come again after some years, and clocks without a zone are wrong by half a day.
accounted AS (
    SELECT
        held.cluster, held.night, held.log_id, MIN(job.uid) AS job_uid,
        bool_and(
            COALESCE(job.uid <> held.uid, false)
            OR COALESCE(NULLIF(job."user", '') <> held."user" AND NOT COALESCE(held."user" = job.uid::VARCHAR, false), false)
        ) AS is_of_another
    FROM held
    JOIN core.job AS job ON job.cluster = held.cluster AND job.job_id = held.job_id
        AND COALESCE(epoch(held.start_at) >= epoch(job.start_at) - 86400, true)
        AND COALESCE(epoch(held.start_at) <= epoch(job.end_at) + 86400, true)
    GROUP BY ALL
),
said AS (
    SELECT
        cluster, night, log_id,
        concat_ws(
            '; ',
            CASE WHEN writer_uid <> uid THEN format('its file is of uid {}, its record of uid {}', writer_uid, uid) END,
            CASE WHEN name_uid <> uid THEN format('its file name is of uid {}, its record of uid {}', name_uid, uid) END,
            CASE WHEN is_of_another THEN 'accounting has its job under ' || COALESCE(format('uid {}', job_uid), 'another login') END
        ) AS reason
    FROM held
    LEFT JOIN accounted USING (cluster, night, log_id)
)
SELECT log_id, reason, night, cluster
FROM said
WHERE reason <> ''
