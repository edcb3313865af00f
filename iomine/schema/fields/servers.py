"""What file servers saw, and what that means for a log."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

SERVERS = {
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        source_kind="Kind of the input: job_stats, stats, brw_stats, sacct, and so on.",
        target_kind="Kind of the target: ost, mdt, or client.",
        scope="Whom a counter counts for: target, job or client.",
        counter="Name of a counter, as the server has it; NULL where a target was read and no counter had a value.",
        counter_unit="Unit of a counter, as the server has it: reqs, bytes, usecs, pages, regs.",
        histogram="What a histogram counts, as its heading says.",
        operation="What a server did: read, write, open, getattr, and so on, as Lustre's counters are called.",
        quality="How far an interval is to be trusted: sound, gap (much longer than usual), restarted or wrapped.",
    ),
    **defined(
        Kind.LABEL,
        Privacy.TARGET,
        target="Name of a storage target as Lustre has it, such as scratch-OST001a; of a client, that of its device.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.NAME,
        filesystem="Name of the file system.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.JOB,
        owner=(
            "Id of the job as Lustre keeps it, cut at 31 bytes, network id of the client, or id of the log where Darshan counts; "
            "empty for a whole target."
        ),
        neighbour="Login name of the user who kept the same targets busiest meanwhile, or the id that Lustre has.",
        neighbour_job_id="Job of that user that did most of it.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.TARGET,
        busiest_target="OST that moved most bytes.",
    ),
    **defined(
        Kind.TIME,
        sampled_at="When the counters were read; of an input, only where its path or time of change says it and not its content.",
        counted_since_at="Since when they count, where the server says so.",
        last_io_at="When the owner last did I/O on the target.",
        begin_at="Start of the interval.",
        first_at="Earliest time in the input.",
        last_at="Latest time in the input.",
    ),
    **defined(
        Kind.COUNT,
        sample_count="Times that something was counted.",
        rpc_count="Requests that the server dealt with.",
        target_count="Targets that were used.",
        mdt_count="Metadata targets.",
        job_count="Jobs.",
        slowed_job_count="Jobs whose requests a target took at least twice as long for as usual.",
        logged_job_count="Jobs that have a log.",
        jobless_log_count="Logs of jobs that accounting does not know.",
        row_count="Rows that the input gave.",
    ),
    **defined(
        Kind.NUMBER,
        amount="Sum of what was counted, in the counter's unit.",
        least_amount="Smallest of what was counted, in the counter's unit.",
        most_amount="Largest of what was counted, in the counter's unit.",
        squares_amount="Sum of the squares of what was counted, empty where it has wrapped around.",
        rate="Units a second over the interval.",
        load_percentile=(
            "Share of the ten-minute slots of 30 nights, in percent, in which a target was less busy than this one; by traffic, "
            "in which others moved less on the same OSTs or file system."
        ),
        bucket=(
            "Label of the histogram's bucket: the most that falls into it where they are powers of two, of offsets the least, "
            "otherwise what was counted itself."
        ),
    ),
    **defined(Kind.BYTE_RATE, bytes_per_second="Bytes moved for each second of the interval."),
    **defined(Kind.COUNT_RATE, rpcs_per_second="Requests for each second of the interval."),
    **defined(
        Kind.NODE_HOURS,
        node_hours="Compute nodes times hours.",
        logged_node_hours="Node-hours of jobs that have a log.",
    ),
    **defined(
        Kind.SECONDS,
        interval_seconds="Length of the interval.",
        covered_seconds="Part of the ten minutes that readings of the servers cover, or in which the log ran.",
        service_seconds="Time in which the server dealt with requests, summed over them.",
        usual_service_seconds=(
            "Time that the same requests usually take: for each kind and size, of the application in nights before where five "
            "jobs ran it, otherwise of other users."
        ),
    ),
    **defined(
        Kind.RATIO,
        server_slowdown_ratio="Time in which the servers dealt with requests, over the time that these usually take.",
        user_ratio="Share of the busy time of the target that belongs to the user with most of it.",
        logged_ratio="Share of the node-hours that belong to jobs with a log.",
        own_bytes_ratio=(
            "Share of what the log's OSTs moved meanwhile that was its own by Darshan; of a whole file system, its user's."
        ),
        fullest_ratio="Share of its bytes that were in use on the fullest OST.",
        load_over_mean_ratio="Busy time of the targets that were used, over the mean of all targets of their kind meanwhile.",
        own_ratio="Share of the busy time of the targets that a job used, while it used them, that was its own.",
        neighbour_ratio="Share of the targets' busy time, while a job used them, of the other user with most of it.",
    ),
    **defined(
        Kind.BYTES,
        capacity_bytes="Size of the target.",
        used_bytes="Bytes in use on the target.",
        free_bytes="Bytes that users may still fill.",
    ),
}

WEATHER = {
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        weather_verdict=(
            "Whose fault slow I/O was: application, system, neighbour or fabric (a link), each on evidence; unexplained where "
            "there is no evidence, unclear where data is missing."
        ),
        slowed_by="What slowed servers or links for the log: system, neighbour or fabric (a link); NULL if nothing did.",
        server_verdict=(
            "What servers show of slow I/O: fair where they were as quick as usual, own where its user kept them busy, system, "
            "neighbour, or unclear."
        ),
        slowest_kind="Kind of target that cost the log most time beyond what is usual: ost or mdt.",
    ),
    **defined(
        Kind.FLAG,
        is_slow_run=(
            "True where I/O took at least half as long again as that of runs of its lineage, empty where that is not known."
        ),
        is_excused=(
            "Whether servers, a neighbour or a link made the run slow, so that its findings are not held against its user. False "
            "where the run took no longer than its lineage, or its own user kept the servers busy; where servers count no times, "
            "true only if the run took longer than its lineage."
        ),
    ),
    **defined(
        Kind.TEXT,
        Privacy.OPEN,
        weather_rule="Rule by which the verdict was given, in words, with what was ruled out and by which data.",
        server_rule="What servers show of slow I/O, in a sentence.",
        differences="What the log did differently from half of the runs that it is compared with, and by how much.",
    ),
    **defined(
        Kind.NUMBER,
        osts_per_file="OSTs over which the log's files on Lustre are striped: the mean by bytes moved.",
    ),
    **defined(
        Kind.SECONDS,
        lost_service_seconds=(
            "Time in which the servers dealt with requests beyond what these usually take; below zero where they were quicker."
        ),
    ),
    **defined(
        Kind.COUNT,
        mdt_rpc_count="Requests that metadata targets dealt with.",
        lineage_run_count="Runs of the log's lineage in the 30 nights before, up to five of a night, that it is compared with.",
        alike_run_count="Such runs that did the same: bytes, requests, opens, files, ranks and OSTs differ by less than half.",
    ),
    **defined(
        Kind.RATIO,
        weather_slowdown_ratio="How many times as long the log's I/O took as it would have with servers as quick as usual.",
        run_slowdown_ratio=(
            "I/O time of the log over the median of runs of its lineage in nights before: of those that did the same where there "
            "are three, or where they were far quicker, otherwise of all."
        ),
        did_more_ratio=(
            "How many times as long the log's I/O should take by what it did, versus runs of its lineage: bytes, requests and "
            "opens weigh as much as they took there; or how files, ranks and OSTs changed, if that is more. Empty where it did "
            "the same."
        ),
        finding_ratio="Share of the log's I/O time that its findings cost, without the facility's part.",
        ost_contention_ratio="Share of the busy time of the log's OSTs, while it used them, that was other users'.",
        others_ratio="Share of the busy time of the targets that cost most, while the log used them, that was other users'.",
        ost_slowdown_ratio="Time in which OSTs dealt with the log's requests, over the time that these usually take.",
        ost_load_over_mean_ratio="Busy time of the OSTs that the log used, over the mean of all OSTs meanwhile.",
        mdt_others_ratio="Share of the busy time of the log's metadata targets, while it used them, that was other users'.",
        mdt_slowdown_ratio="Time in which metadata targets dealt with the log's requests, over the time that these usually take.",
        mdt_own_ratio="Share of the busy time of the log's metadata targets, while it used them, that was its user's.",
    ),
}
