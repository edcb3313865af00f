"""Name of a ring's pattern, and the numbers that decide it."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

PATTERNS = {
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        traffic_pattern=(
            "What medians of nodes look like: circular (all alike), outlier (few are far above the others), striped (neighbours, "
            "or every p-th, alike), noisy (neither), or unknown (too few nodes)."
        ),
        first_traffic_pattern="traffic_pattern in the first tenth of the run's I/O, NULL where nothing was moved there.",
        last_traffic_pattern="traffic_pattern in the last tenth of the run's I/O, NULL where nothing was moved there.",
        coincides_with="What the stripes coincide with: host, carrier, ost or mount; NULL where with nothing known.",
        place_level="What a place is: host, ost or switch.",
    ),
    **defined(
        Kind.COUNT,
        link_node_count="Nodes of the circle that have a value.",
        outlying_count="Nodes whose median is far above that of all nodes: twice, and by 3.5 robust standard deviations.",
        band_count="Equal bands of neighbouring nodes that are alike, NULL where the pattern is not striped so.",
        period_node_count="Every how many nodes are alike, NULL where the pattern is not striped so.",
        outlying_job_count="Jobs in which the place was an outlier at least once.",
        met_job_count="Jobs that used the place and in which places can be outliers.",
    ),
    **defined(
        Kind.INTEGERS,
        outlying_nodes="Nodes that are outliers, the furthest first, at most 64; numbers as in node_id.",
    ),
    **defined(Kind.TEXTS, Privacy.NAME, outlying_labels="Names of outlying_nodes."),
    **defined(
        Kind.NUMBER,
        middle_log10="Median of the medians of the nodes, as common logarithm of seconds or bytes.",
        scale_log10="Robust standard deviation of the medians: 1.4826 times their median distance from that median.",
        spread_decades="90th less the 10th percentile of the medians without the few outliers, in decades.",
        expected_jobs="Jobs in which the place would be an outlier if outliers were drawn at random among the places in use.",
    ),
    **defined(
        Kind.NUMBER,
        first_middle_log10="The median of the nodes' medians in the first tenth of the run's I/O.",
        first_spread_decades="The spread in the first tenth of the run's I/O.",
        last_middle_log10="The median of the nodes' medians in the last tenth of the run's I/O.",
        last_spread_decades="The spread in the last tenth of the run's I/O.",
    ),
    **defined(
        Kind.RATIO,
        outlying_ratio="Median of the furthest node over the median of all nodes, NULL where none is an outlier.",
        explained_ratio=(
            "Share of the variance between nodes that the best bands or period explain, adjusted for degrees of freedom; NULL "
            "where none was looked for."
        ),
        chance_ratio="Highest probability that a place is an outlier in so many jobs if outliers were drawn at random in each.",
    ),
    **defined(Kind.TEXT, Privacy.SENTENCE, pattern_lack="Why the pattern is unknown, NULL where it is known."),
    **defined(
        Kind.TEXT,
        Privacy.NAME,
        straggler_slow_host="Host of all stragglers, two or more, where it is out of line among hosts that are alike.",
        phase_straggler_host=(
            "Host, out of line among hosts that are alike, of ranks that were slowest for half of the time of phases with "
            "stragglers."
        ),
    ),
    **defined(Kind.TEXT, Privacy.NAME, place_name="Name of the place: a host, the index of an OST, or a leaf switch."),
}
