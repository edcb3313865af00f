-- ---
-- about = "What the I/O time of logs went into: reads, writes, metadata calls, and waiting or exchange in MPI-IO."
-- parts = []
-- reads = ["core.io_part"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT *
FROM (
    SELECT
        log_id,
        unnest([
            {time_kind: 'read', kind_core_seconds: read_part_core_seconds},
            {time_kind: 'write', kind_core_seconds: write_part_core_seconds},
            {time_kind: 'meta', kind_core_seconds: meta_part_core_seconds},
            {time_kind: 'waiting', kind_core_seconds: waiting_part_core_seconds}
        ], recursive := true)
    FROM core.io_part
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
        AND list_contains($log_ids, log_id)
)
ORDER BY kind_core_seconds DESC, time_kind
