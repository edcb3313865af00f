"""Who moved bytes for whom and to where: edges between ranks, carriers and places, as the round picture shows them."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

RADIAL = {
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        ring="Which edges: outer (from ranks to carriers) or inner (from carriers to places).",
        metric="What is counted: latency (seconds) or size (bytes).",
        node_level="What a node is: rank, host, carrier, ost, mount or file.",
        stretch="Part of the run's I/O: run (all of it), first or last (a tenth).",
        carrier_kind=(
            "What carriers are: aggregator (ranks that moved bytes of others), rank (each moved its own), or host (nothing went "
            "through MPI-IO)."
        ),
        place_kind="Where bytes went: ost, or mount where no Lustre layout is known.",
    ),
    **defined(
        Kind.INTEGER,
        from_node="Arc at which the edge begins: ranks in the outer ring, carriers in the inner one.",
        to_node="Arc at which the edge ends: carriers in the outer ring, places in the inner one.",
        time_bin="Number of the time bin in which the request started, 0 to 63.",
        value_bin=(
            "Number of the bin of the value, a logarithmic axis, 0 to 23: latency from 1 us to 1,000 s, size from 1 B to 16 GiB; "
            "the outermost bins hold what lies beyond."
        ),
        arc="Number of the arc in its circle of the picture; neighbouring nodes share one where there are more than 1,024.",
        skew_rank="Rank with the largest correction of its clock, where its host is not known.",
    ),
    **defined(
        Kind.ID,
        Privacy.OPEN,
        node_id="Number of the node among those of its level: the rank, the index of the OST, or else its place in the order of "
        "their ranks, names or, for files, record ids.",
    ),
    **defined(
        Kind.NUMBER,
        least_value="Least value, in bytes, or in seconds to 1 in 256; below 0 where clocks differ.",
        most_value="Highest value, in bytes, or in seconds to 1 in 256.",
        position="Where in the order of ranks the node lies, as the mean of its ranks: 0 is the first rank, 1 the last.",
        median_log10="Median of the common logarithms of the values, none of which counts as less than 1 us or 1 B.",
    ),
    **defined(Kind.TEXT, Privacy.WORD, node_label="Name of the node: a host, a mount point or a path."),
    **defined(Kind.TEXT, Privacy.NAME, skew_host="Host with the largest correction of its clock."),
    **defined(Kind.TEXT, Privacy.SENTENCE, missing="What the ring lacks and why, NULL where it lacks nothing."),
    **defined(
        Kind.SECONDS,
        latency_seconds="Sum of the latencies of the requests, to 1 in 256; NULL where none is known.",
        begin_seconds="When the first time bin begins, in seconds since the start of the run.",
        skew_seconds="Largest correction of a clock, NULL where none was corrected.",
    ),
    **defined(
        Kind.COUNT,
        matched_count=(
            "Requests whose carrier, or place, is known. In the inner ring a request on several OSTs counts once on each, here "
            "and in request_count."
        ),
        negative_count="Requests whose latency is below 0 although clocks were corrected; they count as the least value.",
    ),
    **defined(
        Kind.RATIO,
        striped_by_ratio=(
            "How far the rank decides on the place: mutual information of band of ranks and place, over the entropy of the "
            "place, by bytes; 0 where all ranks use all places alike, NULL where there is one place or one rank."
        ),
    ),
}
