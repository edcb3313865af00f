-- ---
-- about = "How many runs there were of each application, and how many were slow for others' or unknown reasons."
-- parts = ["run"]
-- reads = []
-- parameters = []
-- ---
SELECT
    recipient, cluster, "user", application, count(*) FILTER (NOT is_excused AND NOT is_unexplained) AS run_count,
    count(*) FILTER (is_excused AND weather_verdict = 'system') AS system_count,
    count(*) FILTER (is_excused AND weather_verdict = 'neighbour') AS neighbour_count,
    count(*) FILTER (is_excused AND weather_verdict = 'fabric') AS fabric_count,
    median(weather_slowdown_ratio) FILTER (is_excused) AS slowdown_ratio,
    count(DISTINCT night) FILTER (is_excused) AS night_count,
    count(*) FILTER (is_unexplained) AS unexplained_count,
    median(run_slowdown_ratio) FILTER (is_unexplained) AS unexplained_slowdown_ratio,
    count(DISTINCT night) FILTER (is_unexplained) AS unexplained_night_count
FROM run
GROUP BY ALL
ORDER BY ALL
