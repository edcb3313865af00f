-- ---
-- about = "A run that is reported to a recipient: from the recipient's own first night, or the usual one, to the last night."
-- parts = []
-- reads = ["core.job", "main.logs", "main.job_weather"]
-- # whose: 'user' or 'project'. recipients and since_nights go together; earliest_night is the first of all first nights.
-- parameters = [
--     "whose", "recipients", "since_nights", "usual_since_night", "earliest_night", "last_night", "only_recipient",
--     "left_out_accounts",
-- ]
-- ---
WITH asked AS (SELECT unnest($recipients::VARCHAR[]) AS recipient, unnest($since_nights::DATE[]) AS since_night),
-- A job occurs once for each file of accounting that has it.
account_of_job AS (
    SELECT cluster, job_id, arg_max(account, night ORDER BY account) AS account
    FROM core.job
    WHERE account <> ''
    GROUP BY ALL
),
named AS (
    SELECT *, CASE $whose::VARCHAR WHEN 'user' THEN "user" WHEN 'project' THEN account END AS recipient
    FROM (SELECT * FROM main.logs WHERE night BETWEEN $earliest_night::DATE AND $last_night::DATE)
    LEFT JOIN account_of_job USING (cluster, job_id)
)
SELECT
    recipient, cluster, night, log_id, job_id, "user", coalesce(application, '') AS application, lineage_id, run_core_seconds,
    run_seconds, nprocs,
    weather_verdict, weather_slowdown_ratio, run_slowdown_ratio,
    coalesce(weather_verdict = 'unexplained' AND is_slow_run, false) AS is_unexplained,
    coalesce(is_excused, false) AS is_excused
FROM named
LEFT JOIN asked USING (recipient)
LEFT JOIN (
    SELECT cluster, night, log_id, weather_verdict, weather_slowdown_ratio, is_slow_run, is_excused, run_slowdown_ratio
    FROM main.job_weather
    WHERE night BETWEEN $earliest_night::DATE AND $last_night::DATE
) USING (cluster, night, log_id)
WHERE night >= coalesce(since_night, $usual_since_night::DATE) AND recipient <> '' AND "user" <> ''
    -- The writer of a log that names another user would otherwise write what that user is sent.
    AND is_owner_confirmed IS DISTINCT FROM false
    AND ($only_recipient::VARCHAR IS NULL OR recipient = $only_recipient::VARCHAR)
    AND NOT coalesce(list_contains($left_out_accounts::VARCHAR[], account), false)
