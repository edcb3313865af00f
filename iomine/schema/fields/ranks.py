"""Ranks, and what some do more than others."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

RANKS = {
    **defined(
        Kind.TEXT,
        Privacy.OPEN,
        rank_evidence="What ranks' shares are known from: records, trace or heatmap.",
        straggler_evidence="What the ranks' times are known from: records or trace.",
    ),
    **defined(
        Kind.TEXT,
        Privacy.NAME,
        straggler_host="Compute node of the slowest straggler, where it is known.",
    ),
    **defined(
        Kind.INTEGER,
        straggler_rank="The slowest straggler.",
        heaviest_rank="Rank that moved most bytes.",
    ),
    **defined(
        Kind.COUNT,
        straggler_count="Ranks whose requests took so much longer than other ranks' that chance does not explain it.",
        idle_rank_count="Ranks that moved no bytes.",
        active_rank_count="Ranks that did anything.",
    ),
    **defined(
        Kind.RATIO,
        straggler_slowdown_ratio="Time for a request (or for a byte, if less) of the slowest straggler, over the median rank's.",
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
        Kind.CORE_SECONDS,
        straggler_core_seconds="Time by which stragglers exceed the median rank's I/O time.",
        heaviest_rank_core_seconds="Time that the rank with most bytes spent in reads and writes.",
        rank0_read_core_seconds="Time that rank 0 spent in reads.",
        rank0_write_core_seconds="Time that rank 0 spent in writes.",
        rank0_core_seconds="Time that rank 0 spent in reads and writes.",
    ),
}
