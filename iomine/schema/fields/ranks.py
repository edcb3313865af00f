"""Ranks, and what some do more than others."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

RANKS = {
    **defined(Kind.FLAG, is_slow_rank="Whether requests of the rank took so much longer that chance does not explain it."),
    **defined(
        Kind.TEXT,
        Privacy.OPEN,
        rank_evidence="What ranks' shares are known from: records, trace or heatmap.",
        straggler_evidence="What the ranks' times are known from: records or trace.",
        late_rank_evidence="What the times of ranks within MPI-IO are known from: records or trace.",
        waited_for="Rank that came last, or that several did or none is known; empty unless most time is in collective calls.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.NAME,
        straggler_host="Compute node of the slowest straggler, where it is known.",
    ),
    **defined(
        Kind.OST,
        straggler_ost_id="Slow OST with most of the time by which stragglers exceed the median rank.",
    ),
    **defined(
        Kind.INTEGER,
        straggler_rank="The slowest straggler.",
        late_rank="Rank with least time within MPI-IO, where others spent twice as much there in collective calls.",
        heaviest_rank="Rank that moved most bytes.",
    ),
    **defined(
        Kind.COUNT,
        straggler_count="Ranks whose requests took so much longer than other ranks' that chance does not explain it.",
        idle_rank_count="Ranks that moved no bytes.",
        active_rank_count="Ranks that did anything.",
        layer_rank_count="Ranks of the log that spent time in requests of the layer.",
    ),
    **defined(
        Kind.RATIO,
        rank_slowdown_ratio="Time for a request (or for a byte, if less) of the rank, over the median rank's.",
        straggler_slowdown_ratio="Time for a request (or for a byte, if less) of the slowest straggler, over the median rank's.",
        late_seconds_ratio="Share of the MPI-IO time that not even the slowest rank's POSIX calls beneath explain.",
        late_run_ratio="Share of the run that ranks on average spent so.",
        straggler_ost_ratio="Share of ranks that use slow OSTs in the time by which stragglers exceed the median rank.",
        straggler_wait_ratio="Share of the run by which the slowest straggler's I/O time exceeds the median rank's.",
        bytes_max_over_mean_ratio="Bytes of the rank that moved most, over the mean of all ranks.",
        bytes_variation_ratio="Standard deviation of ranks' bytes over their mean.",
        seconds_variation_ratio="Standard deviation of ranks' I/O time over their mean.",
        slowest_over_mean_ratio="I/O time of the slowest rank, over the mean of all ranks.",
        bytes_gini_ratio="Gini coefficient of ranks' bytes: 0 where all moved the same, towards 1 where one moved all.",
        rank0_read_ratio="Share of the bytes read that rank 0 read, of runs with at least 4 ranks.",
        rank0_write_ratio="Share of the bytes written that rank 0 wrote, of runs with at least 4 ranks.",
        rank0_ratio="Share of the bytes moved that rank 0 moved, of runs with at least 4 ranks.",
    ),
    **defined(
        Kind.BYTES,
        rank0_read_bytes="Bytes that rank 0 read.",
        rank0_write_bytes="Bytes that rank 0 wrote.",
        rank0_bytes="Bytes that rank 0 moved.",
        heaviest_rank_bytes="Bytes of the rank that moved most.",
        mean_rank_bytes="Bytes moved, averaged over all ranks of the run.",
    ),
    **defined(
        Kind.SECONDS,
        rank_seconds="Time of the rank in reads and writes of the layer.",
        median_rank_seconds="Time of the median rank in reads and writes of the layer.",
        mpiio_seconds="Time in MPI-IO, metadata calls included, summed over ranks.",
        posix_seconds="Time in POSIX calls, metadata calls included, summed over ranks.",
        waiting_seconds="Time in MPI-IO that the POSIX calls beneath do not explain, summed over ranks.",
        late_seconds="Time in MPI-IO that not even the slowest rank's POSIX calls beneath explain, summed over ranks.",
        held_seconds="Time in collective calls in which ranks waited for the slowest rank's POSIX calls, summed over ranks.",
        collective_excess_seconds=(
            "Time in collective reads and writes of MPI-IO less that in others; all of a record's reads count as what most of "
            "them are, likewise its writes."
        ),
    ),
    **defined(Kind.TEXT, Privacy.PATH, late_path="File with most time in MPI-IO that POSIX beneath does not explain."),
    **defined(
        Kind.CORE_SECONDS,
        straggler_core_seconds="Time by which stragglers exceed the median rank's I/O time.",
        imbalance_core_seconds="Time that ranks with more bytes than the mean spent on what they moved beyond it.",
        late_core_seconds="Time in MPI-IO of ranks that not even the slowest rank's POSIX calls beneath explain.",
        rank0_read_core_seconds="Time that rank 0 spent in reads.",
        rank0_write_core_seconds="Time that rank 0 spent in writes.",
        rank0_core_seconds="Time that rank 0 spent in reads and writes.",
        rank0_read_idle_core_seconds="Core-seconds (a lower bound) in which other ranks did no I/O while rank 0 read.",
        rank0_write_idle_core_seconds="Core-seconds (a lower bound) in which other ranks did no I/O while rank 0 wrote.",
        rank0_idle_core_seconds="Core-seconds (a lower bound) in which other ranks did no I/O while rank 0 read or wrote.",
        heaviest_rank_idle_core_seconds=(
            "Core-seconds (a lower bound) in which other ranks did no I/O while the rank with most bytes read or wrote."
        ),
        straggler_idle_core_seconds=(
            "I/O time by which the slowest straggler exceeds other ranks, at most its excess over the median rank each, summed "
            "over ranks with I/O that are not stragglers."
        ),
    ),
}
