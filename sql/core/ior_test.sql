-- ---
-- about = "A test of IOR in one direction: seconds of its data time for a byte, over its repetitions."
-- grain = ["cluster", "night", "output_path", "test", "op"]
-- reads = ["lake.ior_run"]
-- ---
SELECT
    cluster, night, start_at, system, output_path, test, op, api, nprocs, ior_block_bytes, ior_transfer_bytes, is_shared,
    -- Left alone, ROMIO gathers what ranks interleave, and blocks of IOR's ranks lie one after the other in each call.
    COALESCE(is_collective, true) AND list_contains(string_split(COALESCE(hints, ''), ';'), 'romio_cb_' || op || '=enable') AS is_buffered,
    test_path, COUNT(*) AS repetition_count,
    SUM(data_seconds) / SUM(moved_bytes::DOUBLE) AS mean_seconds_per_byte,
    MIN(data_seconds / moved_bytes) AS least_seconds_per_byte,
    MAX(data_seconds / moved_bytes) AS most_seconds_per_byte
FROM lake.ior_run
-- A rate that an output does not have, or that is too short to be timed, is NULL.
WHERE data_seconds > 0 AND moved_bytes > 0 AND nprocs > 0 AND ior_transfer_bytes > 0 AND is_shared IS NOT NULL AND op IN ('read', 'write')
GROUP BY ALL
