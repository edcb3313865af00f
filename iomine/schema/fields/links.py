"""What was wrong with links of the fabric and when, what logs met there, and the names of links."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

LINKS = {
    **defined(
        Kind.TEXT,
        Privacy.WORD,
        device=(
            "Name of the end of a link: its host, its own description, or otherwise its GUID; of a directed link, of the end "
            "that sends."
        ),
        peer_device="Name of the other end.",
        faulty_link="Both ends of the link that was faulty for most of the log's I/O, of those that the log depended on.",
        congested_link="Both ends of the link that was congested for most of the log's I/O, of those that the log depended on.",
        collision_link="Both ends of the link on which the log's I/O met with other traffic for longest.",
        straggler_link="Both ends of the faulty link that carried all bytes of the log's stragglers.",
        leaf_switches="Switches that the log's nodes are attached to, the first eight by name.",
    ),
    **defined(Kind.TEXT, Privacy.NAME, peer_user="User of the other job."),
    **defined(Kind.TEXT, Privacy.JOB, peer_job_id="Id of the other job."),
    **defined(Kind.TEXT, Privacy.DIGEST, peer_log_id="Id of the other log."),
    **defined(
        Kind.TEXT,
        Privacy.SENTENCE,
        trouble="What was wrong with a link.",
        faulty_trouble="What was wrong with the link in the ten minutes in which the log moved most over it.",
        congested_trouble="How full the link was in the ten minutes in which the log moved most over it.",
        straggler_trouble="What was wrong with the link that all bytes of the stragglers passed.",
        link_others="Who else moved data over the link while something was wrong, the most first.",
        faulty_others="Who else moved data over the faulty link meanwhile, the most first.",
        congested_others="Who else moved data over the congested link meanwhile, the most first.",
        fabric_rule="What the fabric shows of slow I/O, in a sentence.",
        fabric_gap="What is not known of the log's way over the fabric, NULL where all is.",
        fabric_lack="Why the state of the fabric is not known, NULL where it is.",
    ),
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        peer_node_kind="What the other end is: switch, host, aggregation (SHARP) or router.",
        fabric_verdict=(
            "What the fabric shows of slow I/O: faulty or congested where a link that the log depended on was so in half of the "
            "ten-minute slots in which it did I/O, fair where none was, or unclear."
        ),
        sharing_kind="Who meets on a link: jobs (two of them), or other (storage and all other traffic).",
        bound_by="What took most of a run's time: mpi, io, or neither where both took less than a quarter of it.",
    ),
    **defined(
        Kind.TIME,
        held_from_at="Since when the topology holds; 1970 where it was not read before.",
        held_until_at="Until when it held; NULL where it still does.",
    ),
    **defined(
        Kind.COUNT,
        interval_count="Intervals between readings.",
        faulty_slot_count="Ten-minute slots in which the link was faulty.",
        congested_slot_count="Ten-minute slots in which the link was congested.",
        collision_slot_count=(
            "Ten-minute slots in which storage and other traffic each had a quarter of a link that was half full or more."
        ),
        counted_slot_count="Ten-minute slots in which counters of the link were read.",
        io_slot_count="Ten-minute slots in which the log did I/O.",
        heavy_link_count="Links that carried a quarter of the log's bytes or more, or all bytes of its stragglers.",
        host_link_count="Links between the log's nodes and their switches that its I/O passed.",
    ),
    **defined(
        Kind.RATIO,
        median_wait_per_word_ratio="Median over the night of the ticks of waiting for each word of 4 bytes sent.",
        usual_wait_per_word_ratio="Median over 30 nights of their medians of the ticks of waiting for each word.",
        wait_times_ratio="Ticks of waiting for each word, over what is usual there or a hundredth of a tick if that is more.",
        degraded_ratio="Capacity of the link over the most that it was read to have, where that is less.",
        peak_utilisation_ratio="Highest utilisation of the link in ten minutes.",
        link_user_ratio="Share of the bytes on the link that belongs to the user with most of them.",
        link_bytes_ratio="Share of the log's bytes that passed the link.",
        link_straggler_ratio="Share of the bytes of the log's stragglers that passed the link.",
        link_trouble_own_ratio="Share of the bytes on the link that was the log's own while something was wrong.",
        link_trouble_other_ratio="Share of the bytes on the link that was no log's I/O while something was wrong.",
        counted_slot_ratio=(
            "Share of the ten-minute slots of the log's I/O in which counters of the links that it depended on were read."
        ),
        faulty_slot_ratio="Share of the ten-minute slots of the log's I/O in which a link that it depended on was faulty.",
        faulty_bytes_ratio="Share of the log's bytes that passed the faulty link.",
        faulty_straggler_ratio="Share of the bytes of the log's stragglers that passed the faulty link.",
        congested_slot_ratio="Share of the ten-minute slots of the log's I/O in which a link that it depended on was congested.",
        congested_bytes_ratio="Share of the log's bytes that passed the congested link.",
        congested_own_ratio="Share of the bytes on the congested link that was the log's own.",
        congested_others_ratio="Share of the bytes on the congested link that was not the log's own.",
        collision_slot_ratio=(
            "Share of the ten-minute slots of the log's I/O in which it met with other traffic on a link that was half full or "
            "more."
        ),
        collision_other_ratio="Share of the bytes on that link that was no log's I/O.",
        scatter_ratio="Switches that the log's nodes are attached to, over those that as many nodes need.",
        link_share_ratio="Share of the bytes on the link that was the job's.",
        peer_share_ratio="Share of the bytes on the link that was the other job's, or other traffic's.",
        storage_ratio="Share of the bytes on the link that was storage traffic.",
        other_ratio="Share of the bytes on the link that was other traffic.",
        mpi_ratio="Share of the run's time in MPI calls.",
        mpi_wait_ratio="Share of the time in MPI calls in which ranks waited for others.",
        run_io_ratio="Share of the run's time in I/O.",
    ),
    **defined(
        Kind.CORE_SECONDS,
        mpi_core_seconds="Time of all ranks in MPI calls.",
        mpi_wait_core_seconds="Time of all ranks waiting for others before collective calls.",
        call_core_seconds="Time of all ranks in this call.",
        call_wait_core_seconds="Time of all ranks waiting for others before this call.",
    ),
    **defined(
        Kind.FLAG,
        is_faulty="Whether the link had errors, was down, discarded packets or lost capacity.",
        is_congested="Whether the link was full, or data waited there ten times as long as usual.",
        is_host_end="Whether one end of the link is a host.",
        is_between_switches="Whether both ends of the link are switches.",
        is_missing="Whether a later reading of an end no longer has the link, and its ports have no other link.",
    ),
}
