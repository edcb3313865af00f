"""The I/O model: classes of phases that do the same, with weights, where their time goes, and predictions for other systems."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

MODELS = {
    **defined(
        Kind.INTEGER,
        phase_class="Number of the phase class, from 1 in the order of time, within its log.",
    ),
    **defined(
        Kind.INTEGERS,
        phase_numbers="Numbers of the class's phases in its layer, as the view phases has them; empty where they are not known.",
    ),
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        access="Whether ranks of a phase touch files of their own (own), of several ranks (shared), or both (mixed).",
        request_order=(
            "How requests of a rank on a file follow each other in a phase: single, consecutive, strided (single requests at "
            "equal distance), segmented (blocks of consecutive ones), random, irregular."
        ),
    ),
    **defined(
        Kind.FLAG,
        is_blocking="True where no MPI-IO call of that direction on the files was nonblocking; empty where counters do not say.",
        is_synced="True where files that are written were synced: fsync, fdatasync, fflush or MPI_File_sync.",
        is_relevant="True where the class moves at least 1% of the log's bytes.",
    ),
    **defined(Kind.TEXT, Privacy.PATH, largest_path="File of which the class moved most bytes."),
    **defined(
        Kind.COUNT,
        requests_per_rank="Requests of a rank in a phase, the (lower) median; by counters on one file, in all phases together.",
        segment_count="Blocks of consecutive requests of a rank on a file in a phase, the (lower) median; by counters in all.",
        phase_count="Phases of the class; empty without a trace or heat map.",
        caller_count="Ranks with requests of the class, those included whose requests move nothing.",
    ),
    **defined(
        Kind.BYTES,
        request_bytes="Length of requests, headers left out: their (lower) median by trace, the commonest by counters.",
        bytes_per_rank="Bytes of a rank in a phase, the (lower) median; by counters on one file, in all phases together.",
        block_bytes="Bytes of consecutive requests together: of most bytes by trace, of all by counters.",
        first_offset_bytes="Where the first phase begins for the first rank, by the law of first offsets.",
        rank_step_bytes="Distance between the starts of a phase for consecutive ranks; empty where that differs.",
        phase_step_bytes="Distance between the starts of consecutive phases for a rank; empty where the class has one phase.",
    ),
    **defined(
        Kind.RATIO,
        collective_ratio="Share of collective calls among MPI-IO calls of that direction on the files; 0 in other layers.",
        law_ratio="Share of pairs of rank and phase that begin exactly where the law of first offsets says.",
        tiles_ratio="Share of POSIX requests beneath MPI-IO that lie within the tile of their phase, or of their block in it.",
        weight_ratio="Share of the class in the bytes that the program moved in the layers that it called.",
    ),
    **defined(
        Kind.SECONDS,
        gap_seconds="From the end of a phase to the start of the next of the class, the median.",
        rank_call_seconds="Time in requests of the class, of its mean rank.",
        rank_wait_seconds="Time of the mean rank until the last has come to a call; 0 without collective buffering.",
        rank_exchange_seconds="Time in requests beyond waiting and storage, at least 0; 0 without collective buffering.",
        storage_seconds="Time in which at least one POSIX request of the class was under way.",
        overcount_seconds="By how much waiting and storage exceed the time in requests, where they do; exchange is 0 there.",
        rank_meta_seconds="Time in opens, closes and the like of the class's files, of its mean rank, in proportion to phases.",
    ),
    # How IOR replays it.
    **defined(
        Kind.LABEL,
        Privacy.OPEN,
        replay_fidelity=(
            "Match of IOR's line to the class: exact (the same requests of each rank in their order), unordered (in another "
            "order), or bytes (as many bytes in requests of that size, in other places); empty where IOR cannot."
        ),
    ),
    **defined(
        Kind.TEXT,
        Privacy.OPEN,
        ior_options="Options of the IOR line that replays the class, except for files; empty where IOR cannot.",
        replay_reason="Why that line is not exact, or why there is none.",
    ),
    # Predicted times on other systems, from IOR.
    **defined(
        Kind.FLAG,
        is_buffered="True where IOR's requests were collective with hints that gather them at aggregators (romio_cb_…=enable).",
        is_own_system="True where the log ran on the system: its files lie below the mount that IOR measured.",
    ),
    **defined(Kind.COUNT, repetition_count="Repetitions of IOR that a rate is the mean of."),
    **defined(
        Kind.NUMBER,
        mean_seconds_per_byte="Seconds of IOR's data time for a byte, the mean of its repetitions.",
        least_seconds_per_byte="Seconds of IOR's data time for a byte, the least of its repetitions.",
        most_seconds_per_byte="Seconds of IOR's data time for a byte, the most of its repetitions.",
        ior_distance="How far IOR's transfer and tasks are from the class's: doublings of both, added; 2 at most are used.",
    ),
    **defined(
        Kind.SECONDS,
        predicted_seconds="Time of the mean rank in requests on the system, by IOR's data time; NULL where that is unknown.",
        least_predicted_seconds="predicted_seconds by the fastest of IOR's repetitions, less 5%.",
        most_predicted_seconds="predicted_seconds by the slowest of IOR's repetitions, plus 5%.",
        measured_seconds="Measured time of the mean rank in the requests that were predicted, where the log ran on the system.",
    ),
    **defined(
        Kind.RATIO,
        prediction_error_ratio="Predicted over measured time, less 1; NULL where the log ran elsewhere.",
        predicted_bytes_ratio="Share of the log's bytes for which a time is predicted.",
    ),
    **defined(
        Kind.COUNT,
        unknown_class_count="Phase classes for which no time is predicted, those that move less than 1% included.",
    ),
    **defined(
        Kind.TEXT, Privacy.OPEN, ior_line="Line of IOR that replays the class, as `iomine model` has it; reads need a file."
    ),
    # What all logs do together.
    **defined(
        Kind.INTEGER,
        workload_class=(
            "Number of the class among all logs of a machine, from 1: those that IOR can replay come first, and of these the "
            "heaviest in bytes."
        ),
    ),
    **defined(Kind.TEXT, Privacy.OPEN, class_words="What a class does, in words."),
    **defined(
        Kind.COUNT,
        class_count="Phase classes of logs that are alike and make one.",
        unweighed_class_count="Phase classes among these whose bytes or time are not known, and weigh nothing there.",
    ),
    **defined(
        Kind.SECONDS,
        request_core_seconds=(
            "Time of ranks in requests: of phase classes the time of the mean rank times the ranks with requests, added up."
        ),
    ),
    **defined(
        Kind.RATIO,
        workload_bytes_ratio="Share in the bytes that programs moved on the machine in the layers that they called.",
        workload_seconds_ratio="Share in the time of ranks in requests on the machine.",
        cumulative_bytes_ratio="Share in the bytes of this class and those with more; empty where IOR has no line for it.",
        cumulative_seconds_ratio=(
            "Share in the time of ranks in requests of this class and those with more of it; empty where IOR has no line for it."
        ),
    ),
}
