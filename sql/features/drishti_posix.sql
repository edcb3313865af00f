-- ---
-- about = "What Drishti works out of one log's POSIX records, its oddities included; its triggers read no other view of POSIX."
-- grain = ["log_id"]
-- reads = ["core.data_quality", "core.log", "core.module", "lake.posix_file"]
-- ---
WITH doubted AS (
    SELECT DISTINCT cluster, night, log_id
    FROM core.data_quality
    WHERE table_name = 'posix_file' AND doubt_check NOT IN ('set back', 'ranks')
),
held AS (
    FROM lake.posix_file
    ANTI JOIN doubted USING (cluster, night, log_id)
    UNION ALL BY NAME
    -- In the lake, a number that no run can have is -1. Drishti saw the number, so what it says of its sum is not known.
    SELECT
        cluster, night, log_id, file_id, rank,
        CASE
            WHEN bool_and(COLUMNS('_(count|bytes|seconds)$') <> -1) OVER (PARTITION BY cluster, night, log_id)
                THEN COLUMNS('_(count|bytes|seconds)$')
        END AS '\0'
    FROM lake.posix_file
    SEMI JOIN doubted USING (cluster, night, log_id)
),
record AS (
    -- Drishti takes a -1 for a number, so this reads the lake and not core, where it has become NULL. HUGEINT and DOUBLE
    -- because a broken log with counters near the end of BIGINT must not stop the judging of all others.
    SELECT
        *,
        rank = -1 AS is_shared,
        read_size_0_100_count::HUGEINT + read_size_100_1k_count + read_size_1k_10k_count
            + read_size_10k_100k_count + read_size_100k_1m_count AS small_read_count,
        write_size_0_100_count::HUGEINT + write_size_100_1k_count + write_size_1k_10k_count
            + write_size_10k_100k_count + write_size_100k_1m_count AS small_write_count
    FROM held
),
per_log AS (
    SELECT
        cluster, night, log_id,
        SUM(read_count) AS read_count, SUM(write_count) AS write_count,
        SUM(read_bytes) AS read_bytes, SUM(write_bytes) AS write_bytes,
        SUM(small_read_count) AS small_read_count, SUM(small_write_count) AS small_write_count,
        SUM(mem_not_aligned_count) AS mem_not_aligned_count, SUM(file_not_aligned_count) AS file_not_aligned_count,
        MAX(max_read_offset_bytes)::HUGEINT AS max_read_offset_bytes,
        MAX(max_write_offset_bytes)::HUGEINT AS max_write_offset_bytes,
        SUM(read_count) - SUM(sequential_read_count) AS random_read_count,
        SUM(write_count) - SUM(sequential_write_count) AS random_write_count,
        SUM(read_count) FILTER (WHERE is_shared) AS shared_read_count,
        SUM(write_count) FILTER (WHERE is_shared) AS shared_write_count,
        SUM(small_read_count) FILTER (WHERE is_shared) AS small_shared_read_count,
        SUM(small_write_count) FILTER (WHERE is_shared) AS small_shared_write_count,
        COUNT(*) FILTER (WHERE is_shared) AS shared_record_count, COUNT(*) FILTER (WHERE NOT is_shared) AS own_record_count,
        MAX(meta_seconds) AS longest_meta_seconds,
        MAX(
            abs(slowest_rank_bytes::DOUBLE - fastest_rank_bytes) / NULLIF(write_bytes::DOUBLE + read_bytes, 0)
        ) FILTER (WHERE is_shared) AS shared_bytes_spread_ratio,
        MAX(
            abs(slowest_rank_seconds - fastest_rank_seconds) / NULLIF(write_seconds + read_seconds + meta_seconds, 0)
        ) FILTER (WHERE is_shared) AS shared_seconds_spread_ratio
    FROM record
    GROUP BY ALL
),
own_file AS (
    SELECT
        cluster, night, log_id, file_id,
        MAX(read_bytes)::DOUBLE AS most_read, MIN(read_bytes)::DOUBLE AS least_read,
        MAX(write_bytes)::DOUBLE AS most_written, MIN(write_bytes)::DOUBLE AS least_written
    FROM held
    WHERE rank <> -1
    GROUP BY ALL
),
own AS (
    SELECT
        cluster, night, log_id,
        MAX((most_read - least_read) / NULLIF(most_read, 0)) AS own_read_spread_ratio,
        MAX((most_written - least_written) / NULLIF(most_written, 0)) AS own_write_spread_ratio
    FROM own_file
    GROUP BY ALL
),
module AS (
    SELECT cluster, night, log_id, bool_and(state = 'read') AS is_read
    FROM core.module
    WHERE module = 'POSIX'
    GROUP BY ALL
)
SELECT
    log.log_id, log.cluster, log.night,
    -- Drishti judges a partial module like a whole one.
    COALESCE(is_read, FALSE) AS is_complete,
    TRY_CAST(read_count AS BIGINT) AS read_count, TRY_CAST(write_count AS BIGINT) AS write_count,
    TRY_CAST(read_bytes AS BIGINT) AS read_bytes, TRY_CAST(write_bytes AS BIGINT) AS write_bytes,
    (read_count - write_count) / NULLIF(read_count + write_count, 0) AS read_count_lead_ratio,
    (write_count - read_count) / NULLIF(read_count + write_count, 0) AS write_count_lead_ratio,
    (read_bytes - write_bytes) / NULLIF(read_bytes + write_bytes, 0) AS read_bytes_lead_ratio,
    (write_bytes - read_bytes) / NULLIF(read_bytes + write_bytes, 0) AS write_bytes_lead_ratio,
    TRY_CAST(small_read_count AS BIGINT) AS small_read_count, TRY_CAST(small_write_count AS BIGINT) AS small_write_count,
    small_read_count / NULLIF(read_count, 0) AS small_read_ratio,
    small_write_count / NULLIF(write_count, 0) AS small_write_ratio,
    mem_not_aligned_count / NULLIF(read_count + write_count, 0) AS mem_not_aligned_ratio,
    file_not_aligned_count / NULLIF(read_count + write_count, 0) AS file_not_aligned_ratio,
    TRY_CAST(max_read_offset_bytes - read_bytes AS BIGINT) AS read_offset_lead_bytes,
    TRY_CAST(max_write_offset_bytes - write_bytes AS BIGINT) AS write_offset_lead_bytes,
    TRY_CAST(random_read_count AS BIGINT) AS random_read_count,
    TRY_CAST(random_write_count AS BIGINT) AS random_write_count,
    random_read_count / NULLIF(read_count, 0) AS random_read_ratio,
    random_write_count / NULLIF(write_count, 0) AS random_write_ratio,
    TRY_CAST(shared_read_count AS BIGINT) AS shared_read_count,
    TRY_CAST(shared_write_count AS BIGINT) AS shared_write_count,
    TRY_CAST(small_shared_read_count AS BIGINT) AS small_shared_read_count,
    TRY_CAST(small_shared_write_count AS BIGINT) AS small_shared_write_count,
    small_shared_read_count / NULLIF(shared_read_count, 0) AS small_shared_read_ratio,
    small_shared_write_count / NULLIF(shared_write_count, 0) AS small_shared_write_ratio,
    longest_meta_seconds, shared_bytes_spread_ratio, shared_seconds_spread_ratio,
    own_read_spread_ratio, own_write_spread_ratio, shared_record_count, own_record_count
FROM (SELECT cluster, night, log_id FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN own USING (cluster, night, log_id)
LEFT JOIN module USING (cluster, night, log_id)
