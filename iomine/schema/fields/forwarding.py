"""What forwarders would leave of requests."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

FORWARDING = {
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        mapping="How ranks go to forwarders: host, blocks (equal blocks of ranks), or aggregators (as MPI-IO chose them).",
        merge_mode=(
            "What merging requires: blocking (nothing, ranks wait for each other as in collective calls), write_behind, "
            "read_ahead, or at_most (reads in an order that nobody can foresee)."
        ),
        cost_reason="Why it is not known what a request costs; NULL where it is.",
        stripe_evidence="What stripes are known from: layout, or assumed (1 MiB).",
    ),
    **defined(
        Kind.COUNT,
        forwarder_count="Forwarders that gather requests; in forwarding, the smallest number within 10% of the fewest left.",
        left_count="Requests that are left when forwarders have merged what touches.",
        stripe_client_count="Distinct pairs of a stripe and a rank that touches it.",
        left_stripe_client_count="Distinct pairs of a stripe and a forwarder that touches it.",
        most_forwarder_count="Largest number of forwarders that leaves within 10% of the fewest requests.",
        gathered_read_count="Traced reads that forwarders could gather, one longer than 4 MiB counted as several.",
        left_read_count="Reads that are left of gathered_read_count.",
        read_forwarder_count="Forwarders that leave left_read_count reads: the most that still leave four times fewer.",
        gathered_write_count="Traced writes that forwarders could gather, one longer than 4 MiB counted as several.",
        left_write_count="Writes that are left of gathered_write_count.",
        write_forwarder_count="Forwarders that leave left_write_count writes: the most that still leave four times fewer.",
        gathered_file_count=(
            "Files that one writer for each twelve ranks would leave of those of one rank each; NULL where not four times fewer."
        ),
        most_left_count="Requests that most_forwarder_count forwarders leave.",
    ),
    **defined(
        Kind.SECONDS,
        window_seconds="For how long a forwarder holds requests; NULL where it takes the k-th request of each rank together.",
        request_cost_seconds="What a request costs apart from its bytes: the 10th percentile of requests of at most 64 KiB.",
    ),
    **defined(
        Kind.CORE_SECONDS,
        gathering_core_seconds="What the requests that are no longer made cost: an estimate, without waits for locks.",
    ),
    **defined(
        Kind.RATIO,
        stripe_aligned_ratio="Share of requests that start on a stripe.",
        left_aligned_ratio="Share of the requests that are left that start on a stripe.",
        gathering_ratio="How many times fewer requests are left.",
        collective_gathering_ratio=(
            "How many times fewer requests collective calls would leave, where at least 4; NULL where fewer or not known."
        ),
        buffered_gathering_ratio=(
            "How many times fewer requests writing behind or reading ahead would leave, where at least 4 and collective calls "
            "would not; NULL where fewer or not known."
        ),
        vain_gathering_ratio=(
            "How many times fewer requests any gathering would leave, where less than 1.5; NULL where more or not known."
        ),
        collective_read_gathering_ratio="How many times fewer reads collective calls would leave, where at least 4.",
        buffered_read_gathering_ratio=(
            "How many times fewer reads reading ahead would leave, where at least 4 and collective calls would not."
        ),
        vain_read_gathering_ratio="How many times fewer reads any gathering would leave, where less than 1.5.",
        collective_write_gathering_ratio="How many times fewer writes collective calls would leave, where at least 4.",
        buffered_write_gathering_ratio=(
            "How many times fewer writes writing behind would leave, where at least 4 and collective calls would not."
        ),
        vain_write_gathering_ratio="How many times fewer writes any gathering would leave, where less than 1.5.",
        touched_ratio="Bytes touched, each once, over bytes moved.",
    ),
    **defined(
        Kind.BYTES,
        request_mean_bytes="Mean of the requests, one longer than 4 MiB counted as several.",
        left_mean_bytes="Mean of the requests that are left.",
        held_bytes="The most that one forwarder holds in a window; NULL where ranks wait for each other.",
    ),
}
