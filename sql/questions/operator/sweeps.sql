-- ---
-- about = "How sweeps of each machine went since a day, and what they found."
-- parts = []
-- reads = ["main.sweeps"]
-- parameters = ["first_day"]
-- ---
SELECT
    cluster, count(*) AS sweep_count, sum(found_count)::BIGINT AS found_count, sum(ingested_count)::BIGINT AS ingested_count,
    sum(known_count)::BIGINT AS known_count, sum(rejected_count)::BIGINT AS rejected_count,
    coalesce(sum(statistics_found_count), 0)::BIGINT AS readings_found,
    coalesce(sum(statistics_ingested_count), 0)::BIGINT AS readings_ingested,
    coalesce(sum(statistics_known_count), 0)::BIGINT AS readings_known,
    coalesce(sum(statistics_rejected_count), 0)::BIGINT AS readings_rejected,
    count(*) FILTER (end_at IS NULL) AS open_count
FROM main.sweeps
WHERE (start_at AT TIME ZONE 'UTC')::DATE >= $first_day
GROUP BY cluster
ORDER BY cluster
