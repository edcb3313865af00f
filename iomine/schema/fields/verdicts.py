"""Verdicts, findings, and what follows from them for users, applications and lineages."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

VERDICTS = {
    **defined(
        Kind.TEXT,
        Privacy.OPEN,
        ruleset="Name of the set of triggers.",
        code="Code of the trigger.",
        level="Weight of the trigger: high, warn, info or ok.",
        trigger_version="Version of the trigger that gave the verdict.",
        title="What a trigger looks for, in one sentence.",
        view_name="View that holds a trigger's metrics.",
        report="Link to the log's report, relative to the warehouse.",
        evidence="What the numbers were worked out from, such as trace, records or heatmap.",
        cause_code=(
            "Code of the finding by which the cause is called: findings of a log are one cause where the costliest is about at "
            "least 80% of the time that the others are about, and one without a cost where its trigger names the other. A slow "
            "OST or a faulty link that explains stragglers gives its code to their cause. NULL where nothing was found."
        ),
        cost_name="Name of a cost: a column of a trigger's view.",
        needs="What input answers the question, and how to get it.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.SENTENCE,
        finding="What was found, in a sentence with the log's own numbers.",
        advice="What to change.",
    ),
    **defined(
        Kind.NUMBER,
        value="Value of the trigger's first metric for this log.",
        bar="The threshold that the value was compared with.",
    ),
    **defined(
        Kind.COUNT,
        small_read_count="Reads below the size that counts as small; in records and ruleset drishti, of 1 MiB or less.",
        small_write_count="Writes below the size that counts as small; in records and ruleset drishti, of 1 MiB or less.",
    ),
    **defined(
        Kind.CORE_SECONDS,
        read_core_seconds="Time that ranks spent in reads, summed over ranks.",
        write_core_seconds="Time that ranks spent in writes, summed over ranks.",
        meta_core_seconds="Time that ranks spent in metadata calls, summed over ranks.",
        claim_core_seconds="Part of the I/O time that a cost is about, in the files and kind of time of the group.",
        charged_core_seconds=(
            "What the finding adds to the sum of its log's costs: time that several findings are about is charged once, to the "
            "one that claims most of it. Empty where nothing is charged."
        ),
    ),
    **defined(
        Kind.SECONDS,
        meta_seconds_per_rank="Time in metadata calls, averaged over the ranks of the run.",
        slowest_io_seconds=(
            "I/O time of the slowest rank: of shared records together, and of the rank with the slowest files of its own; "
            "Darshan's agg_time_by_slowest."
        ),
    ),
    **defined(
        Kind.BYTE_RATE,
        moved_bytes_per_second="Bytes moved, over the I/O time of the slowest rank: Darshan's agg_perf_by_slowest.",
    ),
    **defined(
        Kind.FLAG,
        is_facility_cause=(
            "Whether the cost of the finding is not its user's to change: the facility has to fix the cause, such as a slow OST, "
            "or servers, other users or a link made the whole run slow (is_excused). NULL if nothing was found."
        ),
    ),
    **defined(Kind.INTEGER, claim_group="Number of a group of files whose costs come in the same order, for one kind of time."),
    **defined(
        Kind.RATIO,
        small_read_ratio="Share of reads that were small.",
        small_write_ratio="Share of writes that were small.",
        meta_ratio="Share of the I/O time spent in metadata calls.",
        io_ratio="Share of the run's core-seconds spent in I/O.",
    ),
}

OFFENDERS = {
    **defined(Kind.TEXT, Privacy.OPEN, grouped_by="What the row sums up: a user, app, account or code, or two of them."),
    **defined(
        Kind.COUNT,
        finding_log_count="Logs with a finding.",
        facility_finding_count="Findings whose cost is not their user's to change (is_facility_cause), as far as it is known.",
        doubtful_log_count="Logs with impossible values, which are left out of sums.",
        user_count="Users, each uid once, whatever names its logs have; who has no known uid is not counted.",
        app_count="Programs.",
        night_count="Nights.",
        run_night_count="Nights with logs.",
        recent_night_count="Nights with logs among the last seven of the machine.",
        preceding_night_count="Nights with logs among the seven before the last seven.",
        recent_finding_count="Findings of the last seven nights of the machine.",
        preceding_finding_count="Findings of the seven nights before the last seven; NULL where none of them has logs.",
        written_file_count="Files written to.",
        small_written_file_count="Files written to, of which less than 1 MiB was touched.",
        unread_file_count="Files written to, of which no log read anything.",
    ),
    **defined(
        Kind.CORE_SECONDS,
        facility_cost_core_seconds=(
            "Part of the cost that its user cannot change: of findings such as a slow OST, and of all findings of runs that "
            "servers, other users or a link made slow. It is not known of nights whose logs were removed, if they were summed up "
            "before version 9 of the schema, by trigger before version 10."
        ),
        timed_core_seconds="Length of the runs whose I/O time is known, times their processes.",
        facility_charged_core_seconds="Of what findings add to the sums of costs, that of is_facility_cause.",
        recent_cost_core_seconds="Cost of the findings of the last seven nights of the machine, with the facility's part.",
        recent_facility_cost_core_seconds="The facility's part of that.",
        preceding_cost_core_seconds="Cost of the findings of the seven nights before the last seven, with the facility's part.",
        preceding_facility_cost_core_seconds="The facility's part of that.",
        small_written_core_seconds="I/O time of files written to, of which less than 1 MiB was touched.",
    ),
    **defined(
        Kind.RATIO,
        cost_change_ratio=(
            "Cost without the facility's part, for each night with logs of the machine among the last seven, over that among the "
            "seven before; NULL where there was none in those, or one of the weeks has no logs."
        ),
        finding_change_ratio=(
            "Findings for each night with logs of the machine among the last seven over those among the seven before; NULL where "
            "there were none, or one of the weeks has no logs."
        ),
        cost_ratio="Share of the I/O time that findings cost, with the facility's part.",
        finding_log_ratio="Share of logs with a finding.",
        repeat_ratio="Share of the nights with logs that have the finding.",
        small_written_file_ratio="Share of small files among those written to.",
        unread_ratio="Share of the bytes written that lie in files of which no log read anything.",
    ),
    **defined(
        Kind.BYTES,
        extent_bytes="Where the last byte that POSIX or stdio touched in the file ends.",
        unread_bytes="Bytes written to files of which no log read anything.",
    ),
}

LINEAGES = {
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        regression_kind="What leaves the band of its lineage: a run, or a step after which runs stay outside.",
        outcome=(
            "What became of a finding that a mail listed: gone, reduced, still there, worse where it is gone but I/O takes "
            "longer for its bytes, or unknown where later runs are too few; not told where no mail listed it."
        ),
    ),
    **defined(
        Kind.INTEGER,
        least_nprocs="Fewest processes of a run.",
        most_nprocs="Most processes of a run.",
    ),
    **defined(
        Kind.COUNT,
        lineage_count="Number of lineages.",
        before_count="Runs that could be assessed up to the night on which a mail listed the finding; all where none did.",
        before_fired_count="Of before_count, runs in which the trigger fired.",
        later_count="Runs that could be assessed after that night.",
        later_fired_count="Of later_count, runs in which the trigger fired.",
        clear_since_count="Runs that are clear since the trigger last fired, after that night; all where no mail listed it.",
    ),
    **defined(
        Kind.RATIO,
        slowest_rank_pace_ratio=(
            "I/O time of the slowest rank for a byte, median of the runs since the trigger last fired, over that of runs before; "
            "of runs that move little, for a run."
        ),
        run_pace_ratio="As slowest_rank_pace_ratio, for the length of the run.",
    ),
    **defined(
        Kind.FLAG,
        is_over="True where the trigger is clear since it last fired, in too many runs for chance, with or without a mail.",
        is_regression=(
            "True where the runs themselves are slower, as far as is known; false where others or the system are why; empty "
            "where it is unexplained."
        ),
    ),
    **defined(
        Kind.DATE,
        clear_night="Night of the first run after the trigger last fired.",
    ),
    **defined(
        Kind.TIME,
        since_at="Start of the first run that is slower.",
    ),
    **defined(
        Kind.CORE_SECONDS,
        usual_io_core_seconds="Median of the I/O time of the lineage's runs; of a regression, of those that it is compared with.",
        spread_io_core_seconds="Median absolute deviation of the I/O time.",
        lost_core_seconds="I/O time of a run beyond what is usual for its bytes; of a step, the median over its runs.",
        all_lost_core_seconds="I/O time of all these runs beyond what is usual for their bytes.",
        before_core_seconds=(
            "Mean of what the finding cost a run up to the night on which a mail listed it, with the time in which others stood "
            "idle; where clear, nothing."
        ),
        later_core_seconds="As before_core_seconds, for runs after that night.",
        saved_core_seconds=(
            "What the finding would have cost runs since it was gone or reduced, less what it did; nothing where it is gone and "
            "neither the slowest rank's I/O nor the run got any shorter for its bytes."
        ),
    ),
    **defined(
        Kind.BYTES,
        usual_moved_bytes="Median of the bytes read and written.",
        spread_moved_bytes="Median absolute deviation of the bytes read and written.",
    ),
    **defined(
        Kind.BYTES_PER_CORE_SECOND,
        usual_bytes_per_core_second="Median of the bytes moved for each core-second of I/O.",
        spread_bytes_per_core_second="Median absolute deviation of the bytes moved for each core-second of I/O.",
    ),
    **defined(
        Kind.RATIO,
        io_slowdown_ratio=(
            "How many times as long I/O takes as is usual of the lineage, or for each byte if that is less; median of a step."
        ),
    ),
}
