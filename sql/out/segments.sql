-- ---
-- about = "Traced reads and writes, with the OST on which each begins where the file's layout has it, and whether the trace makes sense."
-- grain = []
-- reads = ["core.segment", "core.lustre_component", "core.module"]
-- ---
WITH layout AS (
    -- Each rank may have recorded the same layout. For layouts of several components, ost_io decides which one holds a byte.
    SELECT cluster, night, log_id, file_id, any_value(stripe_bytes) AS stripe_bytes, any_value(ost_ids) AS ost_ids
    FROM core.lustre_component
    GROUP BY ALL
    HAVING MAX(component) = 0 AND any_value(stripe_bytes) > 0 AND len(any_value(ost_ids)) > 0
),
-- If one request makes no sense, the others may be right by chance only: all of the trace is in doubt.
doubted AS (
    SELECT cluster, night, log_id, module, reason AS trace_doubt
    FROM core.module
    WHERE module IN ('DXT_POSIX', 'DXT_MPIIO') AND state = 'unsound'
)
SELECT
    segment.log_id, segment.layer, segment.file_id, segment.rank, segment.host, segment.op,
    segment.offset_bytes, segment.length_bytes, segment.start_seconds, segment.end_seconds,
    CASE WHEN layer = 'posix' THEN ost_ids[(offset_bytes // stripe_bytes) % len(ost_ids) + 1] END AS ost,
    segment.thread_id, trace_doubt, segment.night, segment.cluster
FROM core.segment AS segment
LEFT JOIN layout USING (cluster, night, log_id, file_id)
LEFT JOIN doubted
    ON doubted.cluster = segment.cluster AND doubted.night = segment.night AND doubted.log_id = segment.log_id
    AND doubted.module = CASE WHEN layer = 'mpiio' THEN 'DXT_MPIIO' ELSE 'DXT_POSIX' END
