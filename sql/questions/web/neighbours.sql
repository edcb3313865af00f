-- ---
-- about = "Pairs of users, the worst first: one whose I/O was slow, and a neighbour whose requests kept the same targets busy."
-- parts = []
-- reads = ["main.neighbours"]
-- parameters = ["kind", "name", "since", "until", "cluster"]
-- ---
SELECT
    "user", neighbour, slowest_kind, sum(log_count)::BIGINT AS log_count, sum(lost_service_seconds) AS lost_service_seconds,
    -- A night's row has the means of its logs.
    sum(weather_slowdown_ratio * log_count) / nullif(sum(log_count) FILTER (WHERE weather_slowdown_ratio IS NOT NULL), 0)
        AS weather_slowdown_ratio,
    sum(neighbour_ratio * log_count) / nullif(sum(log_count) FILTER (WHERE neighbour_ratio IS NOT NULL), 0) AS neighbour_ratio,
    max(night) AS last_night
FROM main.neighbours
WHERE
    night BETWEEN $since AND $until AND ($cluster IS NULL OR cluster = $cluster)
    AND ($kind IS NULL OR ($kind = 'user' AND $name IN ("user", neighbour)))
GROUP BY "user", neighbour, slowest_kind
ORDER BY lost_service_seconds DESC NULLS LAST, "user", neighbour, slowest_kind
LIMIT 10
