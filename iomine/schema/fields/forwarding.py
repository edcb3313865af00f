"""What forwarders would make of requests."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

FORWARDING = {
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        mapping="How ranks go to forwarders: host, blocks (equal blocks of ranks), or aggregators (as MPI-IO chose them).",
        merge_mode=(
            "What merging takes: blocking (nothing, ranks wait for each other as in collective calls), write_behind, "
            "read_ahead, or at_most (reads in an order that nobody can foresee)."
        ),
        cost_reason="Why it is not known what a request costs; NULL where it is.",
        stripe_evidence="What stripes are known from: layout, or assumed (1 MiB).",
    ),
    **defined(
        Kind.COUNT,
        forwarder_count="Forwarders that gather requests.",
        left_count="Requests that are left when forwarders have merged what touches.",
        stripe_client_count="Distinct pairs of a stripe and a rank that touches it.",
        left_stripe_client_count="Distinct pairs of a stripe and a forwarder that touches it.",
    ),
    **defined(
        Kind.SECONDS,
        window_seconds="For how long a forwarder holds requests; NULL where it takes the k-th request of each rank together.",
        request_cost_seconds="What a request costs beside its bytes: the 10th percentile of requests of at most 64 KiB.",
    ),
    **defined(
        Kind.CORE_SECONDS,
        gathering_core_seconds="What the requests that are no longer made cost: an estimate, without waits for locks.",
    ),
    **defined(
        Kind.RATIO,
        stripe_aligned_ratio="Share of requests that start on a stripe.",
        left_aligned_ratio="Share of the requests that are left that start on a stripe.",
        touched_ratio="Bytes touched, each once, over bytes moved.",
    ),
    **defined(
        Kind.BYTES,
        request_mean_bytes="Mean of the requests, one longer than 4 MiB counted as several.",
        left_mean_bytes="Mean of the requests that are left.",
        held_bytes="The most that one forwarder holds in a window; NULL where ranks wait for each other.",
    ),
}
