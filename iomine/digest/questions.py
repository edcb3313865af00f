"""What letters ask the warehouse, for all recipients at once: a question costs the same for one as for hundreds.

Parameters of the questions about runs: $1 and $2 are recipients and the first night that each is to be told of, $3 the first
night for the others, $4 the earliest of all these, $5 the last night, $6 the only recipient, NULL for all, and $7 accounts whose
runs are left out. $8 to $10 are clusters, lineages and codes of what is gone, which is told as that.
"""

from typing import Final, Literal

Whose = Literal["user", "project"]

_RECIPIENTS: Final[dict[Whose, str]] = {"user": '"user"', "project": "account"}
_RUN: Final = """
    asked AS (SELECT unnest($1::VARCHAR[]) AS recipient, unnest($2::DATE[]) AS since_night),
    -- A job comes once for each file of accounting that tells of it.
    account_of_job AS (
        SELECT cluster, job_id, arg_max(account, night ORDER BY account) AS account
        FROM core.job
        WHERE account <> ''
        GROUP BY ALL
    ),
    named AS (
        SELECT *, {recipient} AS recipient
        FROM (SELECT * FROM logs WHERE night BETWEEN $4::DATE AND $5::DATE)
        LEFT JOIN account_of_job USING (cluster, job_id)
    ),
    run AS (
        SELECT
            recipient, cluster, night, log_id, "user", coalesce(application, '') AS application, lineage_id,
            run_core_seconds,
            weather_verdict, weather_slowdown_ratio, run_slowdown_ratio,
            coalesce(weather_verdict = 'unexplained' AND is_slow_run, false) AS is_unexplained,
            coalesce(weather_verdict IN ('system', 'neighbour'), false) AS is_excused
        FROM named
        LEFT JOIN asked USING (recipient)
        LEFT JOIN (
            SELECT cluster, night, log_id, weather_verdict, weather_slowdown_ratio, is_slow_run, run_slowdown_ratio
            FROM job_weather
            WHERE night BETWEEN $4::DATE AND $5::DATE
        ) USING (cluster, night, log_id)
        WHERE night >= coalesce(since_night, $3::DATE) AND recipient <> '' AND "user" <> ''
            AND ($6::VARCHAR IS NULL OR recipient = $6::VARCHAR) AND NOT coalesce(list_contains($7::VARCHAR[], account), false)
    )
"""
# What others made slow, or nobody knows what, says little about a program; and what is over is no news.
_FIRED: Final = """
    over AS (SELECT unnest($8::VARCHAR[]) AS cluster, unnest($9::VARCHAR[]) AS lineage_id, unnest($10::VARCHAR[]) AS code),
    fired AS (
        SELECT
            recipient, cluster, night, log_id, "user", application, code, level,
            cost_core_seconds + coalesce(idle_core_seconds, 0) AS cost_core_seconds, idle_core_seconds, charged_core_seconds,
            run_core_seconds
        FROM (SELECT * FROM run WHERE NOT is_excused AND NOT is_unexplained)
        JOIN (
            SELECT cluster, night, log_id, code, level, cost_core_seconds, idle_core_seconds, charged_core_seconds
            FROM findings
            WHERE night BETWEEN $4::DATE AND $5::DATE
        ) USING (cluster, night, log_id)
        ANTI JOIN over USING (cluster, lineage_id, code)
    )
"""
_SIGNS: Final = """
    SELECT
        recipient, cluster, "user", application, code, min(level) AS level,
        count(DISTINCT log_id) AS run_count, count(DISTINCT night) AS night_count,
        min(night) AS first_night, max(night) AS last_night,
        sum(cost_core_seconds ORDER BY log_id) AS cost_core_seconds,
        sum(idle_core_seconds ORDER BY log_id) AS idle_core_seconds,
        sum(charged_core_seconds ORDER BY log_id) AS charged_core_seconds,
        -- Of these, those whose cost is known.
        sum(run_core_seconds ORDER BY log_id) FILTER (cost_core_seconds IS NOT NULL) AS run_core_seconds,
        arg_max({log_id: log_id, night: night}, coalesce(cost_core_seconds, -1) ORDER BY log_id) AS costliest
    FROM fired
    GROUP BY ALL
    ORDER BY ALL
"""
_PAIRS: Final = """
    SELECT cluster, recipient, "user", application, one.code, other.code AS other_code, count(*) AS run_count
    FROM fired AS one
    JOIN fired AS other USING (cluster, night, log_id, recipient, "user", application)
    WHERE one.code <> other.code
    GROUP BY ALL
"""
_NIGHTS: Final = """
    SELECT
        recipient, "user", night, count(DISTINCT (cluster, log_id)) AS run_count,
        sum(charged_core_seconds ORDER BY cluster, log_id, code) AS cost_core_seconds
    FROM fired
    GROUP BY ALL
    ORDER BY ALL
"""
_RUN_COUNTS: Final = """
    SELECT
        recipient, cluster, "user", application, count(*) FILTER (NOT is_excused AND NOT is_unexplained) AS run_count,
        count(*) FILTER (weather_verdict = 'system') AS system_count,
        count(*) FILTER (weather_verdict = 'neighbour') AS neighbour_count,
        median(weather_slowdown_ratio) FILTER (is_excused) AS slowdown_ratio,
        count(DISTINCT night) FILTER (is_excused) AS night_count,
        count(*) FILTER (is_unexplained) AS unexplained_count,
        median(run_slowdown_ratio) FILTER (is_unexplained) AS unexplained_slowdown_ratio,
        count(DISTINCT night) FILTER (is_unexplained) AS unexplained_night_count
    FROM run
    GROUP BY ALL
    ORDER BY ALL
"""

OUTCOMES: Final = """
    SELECT
        cluster, lineage_id, "user", application, code, outcome, told_night, clear_night, is_over, saved_core_seconds,
        later_count, later_fired_count, clear_since_count
    FROM advice_outcomes
    WHERE "user" <> ''
    ORDER BY ALL
"""

# $1 to $4 are clusters, nights, log ids and codes of findings, $5 and $6 the first and the last of the nights.
DETAILS: Final = """
    WITH wanted AS (
        SELECT
            unnest($1::VARCHAR[]) AS cluster, unnest($2::DATE[]) AS night, unnest($3::VARCHAR[]) AS log_id,
            unnest($4::VARCHAR[]) AS code
    )
    SELECT
        told.cluster, told.log_id, told.code, told.finding, told.advice, told.evidence, told.cost_core_seconds,
        log.night, log.job_id, log.app, log.exe, log.nprocs, log.run_seconds, has_hdf5
    FROM wanted
    JOIN (SELECT * FROM findings WHERE night BETWEEN $5::DATE AND $6::DATE) AS told USING (cluster, night, log_id, code)
    JOIN (SELECT * FROM logs WHERE night BETWEEN $5::DATE AND $6::DATE) AS log USING (cluster, night, log_id)
    LEFT JOIN (
        SELECT cluster, night, log_id, bool_or(module IN ('H5F', 'H5D')) AS has_hdf5
        FROM core.module
        WHERE night BETWEEN $5::DATE AND $6::DATE AND log_id IN (SELECT unnest($3::VARCHAR[]))
        GROUP BY ALL
    ) USING (cluster, night, log_id)
"""

# No night is newer than today, whatever a log's clock said.
NEWEST: Final = "SELECT max(last_night) AS night FROM core.newest_night"


def signs(whose: Whose) -> str:
    """Of each recipient, application and code: in how many runs it fired, and what that cost."""
    return _of_fired(whose) + _SIGNS


def pairs(whose: Whose) -> str:
    """In how many runs two codes fired together."""
    return _of_fired(whose) + _PAIRS


def nights(whose: Whose) -> str:
    """What findings cost by night: the sum of what their logs are charged."""
    return _of_fired(whose) + _NIGHTS


def run_counts(whose: Whose) -> str:
    """How many runs there were of each application, and how many were slow for others' or unknown reasons; takes no $8 to $10."""
    return f"WITH {_run(whose)} {_RUN_COUNTS}"


def _of_fired(whose: Whose) -> str:
    return f"WITH {_run(whose)}, {_FIRED}"


def _run(whose: Whose) -> str:
    return _RUN.replace("{recipient}", _RECIPIENTS[whose])
