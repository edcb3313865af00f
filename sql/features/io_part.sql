-- ---
-- about = "What the I/O time of one log was spent on: reads, writes, metadata calls, waiting or exchange in MPI-IO; they add up to it."
-- grain = ["log_id"]
-- reads = ["core.file_time"]
-- ---
-- A kind that took no time has no row in `file_time`.
SELECT
    log_id,
    COALESCE(list_sum(list_sort(list(kind_seconds) FILTER (time_kind = 'read'))), 0) AS read_part_core_seconds,
    COALESCE(list_sum(list_sort(list(kind_seconds) FILTER (time_kind = 'write'))), 0) AS write_part_core_seconds,
    COALESCE(list_sum(list_sort(list(kind_seconds) FILTER (time_kind = 'meta'))), 0) AS meta_part_core_seconds,
    COALESCE(list_sum(list_sort(list(kind_seconds) FILTER (time_kind IN ('held', 'waiting')))), 0) AS waiting_part_core_seconds,
    night, cluster
FROM core.file_time
GROUP BY log_id, night, cluster
