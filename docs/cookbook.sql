-- Questions that admins ask, by what they ask for. `python tests/cookbook.py` answers them and writes docs/cookbook.md.

-- # Who

-- ## Who loses most in requests that findings are about, and does it grow?
SELECT "user", app, account, log_count, finding_count, round(cost_core_seconds / 3600, 2) AS cost_core_hours,
    round(facility_cost_core_seconds / 3600, 2) AS facility_cost_core_hours, round(cost_change_ratio, 2) AS cost_change_ratio
FROM worst_offenders
WHERE cost_core_seconds > 0
ORDER BY cost_core_seconds - coalesce(facility_cost_core_seconds, 0) DESC, "user", app, account
LIMIT 5;

-- ## Which projects lose most?
SELECT account, log_count, finding_count, round(cost_core_seconds / 3600, 2) AS cost_core_hours, round(io_ratio, 3) AS io_ratio
FROM offenders
WHERE grouped_by = 'account'
ORDER BY cost_core_seconds DESC NULLS LAST, account
LIMIT 5;

-- ## How is the I/O shared out among projects?
SELECT account, log_count, round(io_core_seconds / sum(io_core_seconds) OVER (), 3) AS io_time_ratio,
    round(read_bytes / sum(read_bytes::DOUBLE) OVER (), 3) AS read_bytes_ratio,
    round(write_bytes / sum(write_bytes::DOUBLE) OVER (), 3) AS write_bytes_ratio
FROM offenders
WHERE grouped_by = 'account'
ORDER BY io_time_ratio DESC, account
LIMIT 5;

-- ## Which applications spend most time in I/O, whoever runs them?
SELECT application, user_count, log_count, round(io_core_seconds / 3600, 2) AS io_core_hours, round(io_ratio, 3) AS io_ratio
FROM applications
ORDER BY io_core_seconds DESC, application
LIMIT 5;

-- ## Who has had the same finding on most nights?
SELECT "user", app, code, night_count, run_night_count, round(cost_core_seconds / 3600, 2) AS cost_core_hours
FROM repeat_offenders
ORDER BY night_count DESC, round(cost_core_seconds) DESC, "user", app, code
LIMIT 5;

-- ## What is wrong with one user's jobs?
SELECT code, finding_count, app_count, round(cost_core_seconds / 3600, 2) AS cost_core_hours, last_night
FROM findings_by_user
WHERE "user" = (SELECT "user" FROM worst_offenders ORDER BY cost_core_seconds DESC NULLS LAST, "user" LIMIT 1)
ORDER BY cost_core_seconds DESC NULLS LAST, code;

-- ## Who has become worse since the week before?
SELECT "user", app, round(preceding_cost_core_seconds / 3600, 2) AS before_core_hours, round(recent_cost_core_seconds / 3600, 2) AS core_hours,
    round(cost_change_ratio, 1) AS cost_change_ratio
FROM worst_offenders
WHERE cost_change_ratio > 1.5
ORDER BY recent_cost_core_seconds - preceding_cost_core_seconds DESC, "user", app
LIMIT 5;

-- ## Who writes small files, and where?
SELECT "user", app, mount, written_file_count, small_written_file_count, round(small_written_file_ratio, 2) AS small_ratio
FROM small_file_producers
ORDER BY small_written_file_count DESC, "user", app, mount
LIMIT 5;

-- ## Who reads the same file from all ranks, instead of once?
-- Each rank has read half of the file or more, on average. Files that were written as well are left out.
SELECT "user", app, files.path, max(rank_count) AS rank_count, count(*) AS log_count,
    round(sum(files.read_bytes::DOUBLE) / sum(extent_bytes), 1) AS times_read, round(sum(files.read_bytes::DOUBLE) / 1e9, 2) AS read_gb
FROM files
JOIN logs USING (cluster, night, log_id)
WHERE rank_count = nprocs AND nprocs > 1 AND files.write_bytes = 0 AND files.read_bytes > extent_bytes * nprocs / 2
GROUP BY "user", app, files.path
ORDER BY read_gb DESC, "user", files.path
LIMIT 5;

-- ## Who shares files through MPI-IO, but without collective calls?
SELECT "user", app, count(DISTINCT log_id) AS log_count, max(nprocs) AS most_nprocs, sum(request_count)::BIGINT AS independent_count,
    round(sum(seconds) / 3600, 2) AS mpiio_core_hours
FROM (
    SELECT cluster, night, log_id, file_id, sum(indep_read_count + indep_write_count + nb_read_count + nb_write_count) AS request_count,
        sum(read_seconds + write_seconds + meta_seconds) AS seconds
    FROM core.mpiio_file
    GROUP BY ALL
    -- A file has one record for all ranks, or one for each.
    HAVING (bool_or(is_shared) OR count(*) > 1) AND sum(coll_read_count + coll_write_count + split_read_count + split_write_count) = 0
)
JOIN logs USING (cluster, night, log_id)
WHERE request_count > 0
GROUP BY "user", app
ORDER BY mpiio_core_hours DESC, "user", app
LIMIT 5;

-- ## Who writes data that nobody reads?
SELECT "user", mount, unread_file_count, round(unread_bytes / 1e9, 1) AS unread_gb, round(unread_ratio, 2) AS unread_ratio
FROM unread_data
ORDER BY unread_bytes DESC, "user", mount
LIMIT 5;

-- ## Who is beating up the metadata servers?
SELECT target, begin_at, "user", round(user_ratio, 2) AS user_ratio, round(server_slowdown_ratio, 1) AS slowdown, slowed_job_count
FROM mdt_storms
LIMIT 5;

-- ## Who heats which OST?
SELECT target, begin_at, "user", round(user_ratio, 2) AS user_ratio, round(server_slowdown_ratio, 1) AS slowdown, slowed_job_count
FROM ost_hotspots
LIMIT 5;

-- ## Who suffers from whom?
SELECT "user", neighbour, slowest_kind, sum(log_count)::BIGINT AS log_count, round(sum(lost_service_seconds), 1) AS lost_service_seconds
FROM neighbours
GROUP BY ALL
ORDER BY lost_service_seconds DESC, "user", neighbour, slowest_kind
LIMIT 5;

-- # What

-- ## What is wrong most often, and what costs most?
SELECT code, title, finding_count, user_count, round(cost_core_seconds / 3600, 2) AS cost_core_hours
FROM findings_by_trigger
ORDER BY cost_core_seconds DESC NULLS LAST, code
LIMIT 6;

-- ## What is the costliest finding, and what should be changed?
SELECT "user", code, left(finding, 60) AS finding, left(advice, 60) AS advice
FROM findings
ORDER BY cost_core_seconds DESC NULLS LAST, code, log_id
LIMIT 1;

-- ## What could be found if the thresholds were lower: which logs missed one by little?
SELECT code, count(*) AS log_count, round(min(bar), 3) AS bar, round(max(value), 3) AS most
FROM verdicts
WHERE ruleset = 'iomine' AND state = 'clear' AND bar > 0 AND value BETWEEN bar * 0.8 AND bar
GROUP BY code
ORDER BY log_count DESC, code
LIMIT 5;

-- ## What do logs not show?
SELECT code, count(*) FILTER (WHERE state = 'unknown') AS unknown_count, round(avg((state = 'unknown')::INTEGER), 2) AS unknown_ratio
FROM verdicts
WHERE ruleset = 'iomine'
GROUP BY code
ORDER BY unknown_count DESC, code
LIMIT 5;

-- ## Which file systems are used, and how?
SELECT mount, fs_type, sum(log_count)::BIGINT AS log_count, sum(file_count)::BIGINT AS file_count,
    round(sum(read_bytes::DOUBLE) / 1e9) AS read_gb, round(sum(write_bytes::DOUBLE) / 1e9) AS write_gb,
    round(sum(meta_core_seconds) / sum(io_core_seconds), 2) AS meta_ratio
FROM mount_usage
GROUP BY ALL
ORDER BY log_count DESC, mount, fs_type;

-- ## What went through which layer of the I/O stack, month by month?
SELECT date_trunc('month', night)::DATE AS month, layer, sum(log_count)::BIGINT AS log_count,
    round(sum(read_bytes::DOUBLE) / 1e9) AS read_gb, round(sum(write_bytes::DOUBLE) / 1e9) AS write_gb,
    round(sum(read_core_seconds + write_core_seconds + meta_core_seconds) / 3600, 1) AS core_hours
FROM layer_usage
GROUP BY ALL
ORDER BY month, core_hours DESC NULLS LAST, layer
LIMIT 8;

-- ## Which files are read by most jobs?
SELECT files.path, count(DISTINCT job_id) AS job_count, count(DISTINCT "user") AS user_count, round(sum(files.read_bytes::DOUBLE) / 1e9, 2) AS read_gb
FROM files
JOIN logs USING (cluster, night, log_id)
WHERE files.read_bytes > 0
GROUP BY files.path
ORDER BY job_count DESC, files.path
LIMIT 5;

-- ## Which runs have an I/O period, and which?
SELECT "user", app, log_id, round(period_seconds, 1) AS period_seconds, round(period_confidence_ratio, 2) AS confidence
FROM period
JOIN logs USING (cluster, night, log_id)
WHERE period_seconds IS NOT NULL AND layer = 'posix'
ORDER BY confidence DESC, log_id
LIMIT 5;

-- ## How do the programs that move most do their I/O, and how often again?
-- A class is of phases that do the same; docs/model.md says how to read it.
SELECT app, op, layer, access, request_order AS "order", phase_count AS phases, rank_count AS ranks,
    round(request_bytes / 1024) AS request_kib, round(moved_bytes / 1024 ** 3, 1) AS moved_gib, round(weight_ratio, 2) AS weight
FROM phase_class
JOIN logs USING (cluster, night, log_id)
WHERE is_relevant
QUALIFY row_number() OVER (PARTITION BY app, op ORDER BY moved_bytes DESC, log_id) = 1
ORDER BY moved_bytes DESC, app, op
LIMIT 5;

-- ## Which programs do the same again and again, and after how long?
-- A regular class of writes is a checkpoint, most often. In requests are seconds of the mean rank, in all phases together.
SELECT app, op, phase_count AS phases, round(period_seconds, 1) AS period_seconds,
    round(moved_bytes / phase_count / 1024 ** 2, 1) AS phase_mib, round(rank_call_seconds, 1) AS in_requests
FROM phase_class
JOIN logs USING (cluster, night, log_id)
WHERE is_relevant AND phase_count > 1
QUALIFY row_number() OVER (PARTITION BY app ORDER BY phase_count DESC, log_id) = 1
ORDER BY phase_count DESC, app
LIMIT 5;

-- ## Which input could not be read, and why?
SELECT parse_filename(path) AS file, stage, reason
FROM rejects
ORDER BY path
LIMIT 5;

-- # When

-- ## How were the last nights?
SELECT night, log_count, round(io_core_seconds / 3600, 1) AS io_core_hours, round(io_ratio, 3) AS io_ratio, finding_count,
    round(cost_core_seconds / 3600, 2) AS cost_core_hours
FROM trends
WHERE log_count > 0
ORDER BY night DESC
LIMIT 7;

-- ## Which OSTs were slow, the latest night first?
-- Only last night: WHERE night = current_date - 1.
SELECT night, target, count(DISTINCT begin_at) AS hour_count, round(max(server_slowdown_ratio), 1) AS slowdown,
    round(sum(lost_service_seconds)) AS lost_service_seconds
FROM ost_hotspots
GROUP BY night, target
ORDER BY night DESC, lost_service_seconds DESC, target
LIMIT 5;

-- ## When was the file system slow?
SELECT night, filesystem, ost_count, round(write_bytes / 1e9) AS write_gb, mdt_rpc_count, round(ost_max_over_mean_ratio, 2) AS busiest_over_mean
FROM filesystem_days
ORDER BY mdt_rpc_count DESC, night, filesystem
LIMIT 5;

-- ## Since when is an application slower, and by how much?
SELECT "user", application, date_trunc('minute', since_at) AS since_at, round(io_slowdown_ratio, 1) AS io_slowdown_ratio, log_count,
    round(all_lost_core_seconds / 3600, 2) AS lost_core_hours
FROM regressions
WHERE regression_kind = 'step' AND is_regression
ORDER BY all_lost_core_seconds DESC, "user", application
LIMIT 5;

-- ## How did a machine's I/O change over its years?
SELECT year(night) AS "year", sum(log_count)::BIGINT AS log_count, round(sum(io_core_seconds) / 3600) AS io_core_hours,
    round(sum(io_core_seconds) / sum(run_core_seconds), 3) AS io_ratio, round(sum(read_bytes::DOUBLE) / 1e12, 1) AS read_tb,
    round(sum(write_bytes::DOUBLE) / 1e12, 1) AS write_tb, sum(finding_count)::BIGINT AS finding_count
FROM trends
WHERE cluster = 'aurora' AND log_count > 0
GROUP BY ALL
ORDER BY "year";

-- ## Which formats have the logs of a machine, and from when to when?
SELECT source_format, min(night) AS first_night, max(night) AS last_night, count(*) AS log_count, count(DISTINCT app) AS app_count
FROM logs
WHERE cluster = 'aurora'
GROUP BY ALL
ORDER BY first_night, source_format;

-- ## At which hour of the day is most written?
SELECT hour(end_at AT TIME ZONE 'UTC') AS hour_utc, count(*) AS log_count, round(sum(write_bytes::DOUBLE) / 1e9) AS write_gb
FROM logs
GROUP BY ALL
ORDER BY write_gb DESC, hour_utc
LIMIT 3;

-- # How much

-- ## What share of the machine's time goes into I/O, and into findings?
SELECT round(sum(run_core_seconds) / 3600) AS core_hours, round(sum(io_core_seconds) / sum(run_core_seconds), 4) AS io_ratio,
    round(sum(cost_core_seconds) / sum(io_core_seconds), 4) AS cost_ratio
FROM trends;

-- ## How much of the machine has logs at all?
SELECT round(sum(logged_node_hours) / sum(node_hours), 3) AS logged_ratio, sum(job_count)::BIGINT AS job_count,
    sum(logged_job_count)::BIGINT AS logged_job_count, sum(jobless_log_count)::BIGINT AS jobless_log_count
FROM coverage;

-- ## How large are jobs, and how much of their time is I/O?
SELECT CASE WHEN nprocs < 16 THEN 'under 16' WHEN nprocs < 128 THEN '16 to 127' WHEN nprocs < 1024 THEN '128 to 1,023' ELSE '1,024 and more' END AS processes,
    count(*) AS log_count, round(median(io_ratio), 4) AS median_io_ratio, round(sum(io_core_seconds) / 3600, 1) AS io_core_hours
FROM logs
GROUP BY ALL
ORDER BY min(nprocs);

-- ## How much would the worst ten users gain if nothing of what they can change were lost?
SELECT count(*) AS user_count, round(sum(own_core_seconds) / 3600, 1) AS own_core_hours, round(sum(own_core_seconds) / any_value(total), 2) AS share_of_all
FROM (
    SELECT "user", cost_core_seconds - coalesce(facility_cost_core_seconds, 0) AS own_core_seconds, (SELECT sum(cost_core_seconds) FROM trends) AS total
    FROM offenders
    WHERE grouped_by = 'user'
    ORDER BY own_core_seconds DESC NULLS LAST, "user"
    LIMIT 10
);

-- ## Which ten applications would gain most if forwarders gathered their requests?
SELECT app, count(DISTINCT log_id) AS log_count, sum(request_count - most_left_count)::BIGINT AS fewer_request_count,
    round(sum(request_count) / sum(most_left_count), 1) AS times_fewer, round(sum(gathering_core_seconds) / 3600, 2) AS saved_core_hours
FROM forwarding
JOIN logs USING (cluster, night, log_id)
GROUP BY app
ORDER BY fewer_request_count DESC, app
LIMIT 10;

-- ## In which seconds did all runs together create most files, and which jobs did?
SELECT mount, create_at, create_count, job_count, list_slice(job_ids, 1, 3) AS most_of_them
FROM facility_creates
ORDER BY create_count DESC, mount, create_at
LIMIT 5;

-- # Compared with what

-- ## Did advice work?
SELECT "user", application, code, outcome, told_night, before_count, later_count, round(saved_core_seconds / 3600, 2) AS saved_core_hours
FROM advice_outcomes
WHERE outcome <> 'unknown'
ORDER BY saved_core_seconds DESC NULLS LAST, "user", application, code
LIMIT 5;

-- ## What did users do after a mail?
SELECT outcome, count(*) AS finding_count, round(sum(saved_core_seconds) / 3600, 2) AS saved_core_hours
FROM advice_outcomes
GROUP BY ALL
ORDER BY finding_count DESC, outcome;

-- ## Whose fault was it that runs were slow?
SELECT weather_verdict, count(*) AS log_count, round(median(weather_slowdown_ratio), 2) AS median_slowdown
FROM job_weather
GROUP BY ALL
ORDER BY log_count DESC, weather_verdict;

-- ## Which runs may their users complain about?
SELECT "user", app, log_id, weather_verdict, neighbour, round(weather_slowdown_ratio, 1) AS slowdown
FROM job_weather
WHERE weather_verdict IN ('system', 'neighbour')
ORDER BY lost_service_seconds DESC, log_id
LIMIT 5;

-- ## Which single runs took far longer than their lineage usually does?
SELECT "user", application, log_id, round(io_slowdown_ratio, 1) AS io_slowdown_ratio, weather_verdict
FROM regressions
WHERE regression_kind = 'run'
ORDER BY lost_core_seconds DESC, log_id
LIMIT 5;

-- ## How do this week's findings compare with those of the week before?
SELECT code, preceding_finding_count, recent_finding_count, round(finding_change_ratio, 2) AS change_for_each_night
FROM findings_by_trigger
ORDER BY abs(ln(nullif(finding_change_ratio, 0))) DESC NULLS LAST, code
LIMIT 5;

-- ## Does the same program take as long with as many bytes, for everybody?
SELECT application, count(*) AS lineage_count, round(min(usual_bytes_per_core_second) / 1e6, 1) AS slowest_mb_per_core_second,
    round(max(usual_bytes_per_core_second) / 1e6, 1) AS fastest_mb_per_core_second
FROM lineages
WHERE log_count >= 5 AND usual_moved_bytes > 1e6
GROUP BY application
HAVING count(*) > 1
ORDER BY fastest_mb_per_core_second / slowest_mb_per_core_second DESC, application
LIMIT 5;
