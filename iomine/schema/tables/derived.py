"""Tables worked out from a log's trace, heat maps and records while it is read."""

from iomine.schema.table import Table

FAILED_DERIVATION = Table(
    "failed_derivation",
    "What could not be worked out of a log, and why; its other rows are sound.",
    ("log_id", "derivation", "error"),
    grain=("log_id", "derivation"),
)
FILE_ACCESS = Table(
    "file_access",
    "The traced requests of one direction on a file in a layer: how much they moved, and in what order.",
    (
        *("log_id", "layer", "file_id", "op", "request_count", "moved_bytes", "touched_bytes", "consecutive_count"),
        *("backward_count", "rewind_count", "rank_count", "request_seconds"),
    ),
    grain=("log_id", "layer", "file_id", "op"),
)
REQUEST_SIZE = Table(
    "request_size",
    "How often a layer's trace holds requests of one length; where lengths are many, they are rounded down.",
    ("log_id", "layer", "op", "length_bytes", "request_count"),
    grain=("log_id", "layer", "op", "length_bytes"),
)
RANK_IO = Table(
    "rank_io",
    "What one rank did in a layer, or (layer all) what its program asked for through all of them; idle ranks have no row.",
    (
        *("log_id", "layer", "rank", "host", "evidence", "read_count", "write_count", "read_bytes", "write_bytes"),
        *("read_seconds", "write_seconds", "meta_seconds"),
    ),
    grain=("log_id", "layer", "rank"),
    for_people=True,
)
_PHASE = (
    *("evidence", "phase", "op", "start_seconds", "end_seconds", "run_ratio", "read_count", "write_count", "request_count"),
    *("read_bytes", "write_bytes", "sieve_read_bytes", "file_count", "rank_count", "fastest_rank", "fastest_rank_seconds"),
    *("slowest_rank", "slowest_rank_seconds", "straggler_count"),
)
PHASE = Table(
    "phase",
    "A stretch of time in which a log does I/O in a layer, or (layer all) in any.",
    ("log_id", "layer", *_PHASE, "bursts_per_rank"),
    grain=("log_id", "layer", "phase"),
)
APP_PHASE = Table(
    "app_phase",
    "A step of a program above its calls, as a tracer names it, and the I/O of its rank within it; steps may be nested.",
    (
        *("log_id", "app_layer", "app_step", "rank", "start_seconds", "end_seconds", "read_seconds", "write_seconds"),
        *("read_bytes", "write_bytes"),
    ),
    for_people=True,
)
FILE_PHASE = Table(
    "file_phase",
    "What a phase of a layer did to one file.",
    ("log_id", "layer", "file_id", *_PHASE),
    grain=("log_id", "layer", "file_id", "phase"),
)
FILE_OVERLAP = Table(
    "file_overlap",
    "Bytes and stripes of a file that traced requests of one direction in a layer touch more than once.",
    (
        *("log_id", "layer", "file_id", "op", "moved_bytes", "touched_bytes", "again_rank_bytes", "again_host_bytes"),
        *("again_bytes", "overlap_bytes", "overlap_rank_count", "straddle_count", "shared_stripe_count"),
    ),
    grain=("log_id", "layer", "file_id", "op"),
    for_people=True,
)
ACCESS_RUN = Table(
    "access_run",
    "Traced requests of a rank on a file in one direction that follow each other in one pattern.",
    (
        *("log_id", "layer", "file_id", "rank", "op", "pattern", "offset_bytes", "length_bytes", "stride_bytes"),
        *("request_count", "consecutive_count", "moved_bytes", "start_seconds", "end_seconds"),
    ),
    for_people=True,
)
COALESCING = Table(
    "coalescing",
    "What forwarders would leave of a layer's requests, on files of a mount that one rank each, or several, touch: an estimate.",
    (
        *("log_id", "layer", "mount", "access", "op", "mapping", "forwarder_count", "window_seconds", "merge_mode", "file_count"),
        *("request_count", "left_count", "request_mean_bytes", "left_mean_bytes", "stripe_aligned_ratio", "left_aligned_ratio"),
        *("stripe_client_count", "left_stripe_client_count", "stripe_count", "touched_ratio", "held_bytes"),
        *("request_cost_seconds", "gathering_core_seconds", "cost_reason", "stripe_evidence"),
    ),
)
_DETAIL = ("op", "start_seconds", "end_seconds", "request_count", "moved_bytes", "small_count", "busy_seconds")
_DETAIL_LONGEST = ("longest_seconds", "longest_start_seconds")
RANK_DETAIL = Table(
    "rank_detail",
    "Traced requests of a rank in one direction, so close in time that a picture shows them as one; small is below 1 MiB.",
    (
        *("log_id", "layer", "detail_level", "tolerance_seconds", "rank", "merged_rank_count"),
        *(*_DETAIL, *_DETAIL_LONGEST),
    ),
    grain=("log_id", "layer", "detail_level", "rank", "op", "start_seconds"),
)
OFFSET_DETAIL = Table(
    "offset_detail",
    "Traced requests of one direction on a file, so close in it that a picture shows them as one; small is below 1 MiB.",
    (
        *("log_id", "layer", "file_id", "tolerance_bytes", "offset_bytes", "end_offset_bytes"),
        *(*_DETAIL, *_DETAIL_LONGEST),
    ),
    grain=("log_id", "layer", "file_id", "op", "offset_bytes"),
)
OST_DETAIL = Table(
    "ost_detail",
    "Traced requests of one direction to an OST, so close in time that a picture shows them as one; small is below 1 MiB.",
    ("log_id", "layer", "detail_level", "tolerance_seconds", "ost_id", *_DETAIL, *_DETAIL_LONGEST),
    grain=("log_id", "layer", "detail_level", "ost_id", "op", "start_seconds"),
)
OST_IO = Table(
    "ost_io",
    "What one OST did for a log in one direction, and what no OST is known for: ost_id is empty there, and reason says why.",
    (
        *("log_id", "layer", "ost_id", "op", "evidence", "reason", "request_count", "moved_bytes", "request_seconds"),
        "file_count",
    ),
    grain=("log_id", "layer", "ost_id", "op", "evidence", "reason"),
    for_people=True,
)
OST_PACE = Table(
    "ost_pace",
    "How fast an OST served a log in one direction, as far as records of files on one OST or a trace name the OST of requests.",
    (
        *("log_id", "layer", "ost_id", "op", "evidence", "request_count", "moved_bytes", "request_seconds", "rank_count"),
        *("file_count", "is_comparable", "typical_seconds_per_byte", "typical_seconds_per_request"),
    ),
    grain=("log_id", "layer", "ost_id", "op", "evidence"),
)
RANK_OST = Table(
    "rank_ost",
    "The OST with most of a rank's time in requests, and that time, as far as the OST of requests is known.",
    ("log_id", "layer", "rank", "ost_id", "request_seconds"),
    grain=("log_id", "layer", "rank"),
)
PERIOD = Table(
    "period",
    "How regularly the phases of a layer, or (layer all) of the whole log, come in which bytes are moved in one direction.",
    (
        *("log_id", "layer", "op", "evidence", "io_phase_count", "period_method", "period_seconds", "period_confidence_ratio"),
        *("spectrum_period_seconds", "spectrum_confidence_ratio"),
    ),
    grain=("log_id", "layer", "op"),
    for_people=True,
)
MPIIO_POSIX = Table(
    "mpiio_posix",
    "What the traced MPI-IO requests of one direction on a file became in POSIX; requests that move nothing are left out.",
    (
        *("log_id", "file_id", "op", "transformation", "is_collective", "stayed_independent", "stayed_independent_count"),
        *("mpiio_request_count", "posix_request_count", "posix_per_mpiio_ratio", "mpiio_bytes", "posix_bytes"),
        *("mpiio_median_bytes", "posix_median_bytes", "sieve_read_count", "sieve_read_bytes", "mpiio_rank_count"),
        *("posix_rank_count", "aggregator_rank_count", "aggregator_ranks", "own_request_ratio", "matched_request_ratio"),
        "unchanged_ratio",
    ),
    grain=("log_id", "file_id", "op"),
    for_people=True,
)
PHASE_CLASS = Table(
    "phase_class",
    "Phases of a log that do the same in the layer that the program called, in one direction: the program's I/O model.",
    (
        *("log_id", "layer", "phase_class", "op", "evidence", "access", "is_collective", "collective_ratio", "is_blocking"),
        *("is_synced", "file_count", "file_id", "largest_path", "view_count", "hint_count", "transformation", "rank_count"),
        *("caller_count", "request_bytes", "requests_per_rank", "bytes_per_rank", "block_bytes", "segment_count"),
        *("request_order", "stride_bytes", "first_offset_bytes", "rank_step_bytes", "phase_step_bytes", "law_ratio"),
        *("tiles_ratio", "phase_count", "phase_numbers", "start_seconds", "end_seconds", "gap_seconds", "period_seconds"),
        *("request_count", "moved_bytes"),
        *("weight_ratio", "is_relevant", "rank_call_seconds", "rank_wait_seconds", "rank_exchange_seconds"),
        *("storage_seconds", "overcount_seconds", "rank_meta_seconds", "ior_options", "replay_fidelity", "replay_reason"),
    ),
    grain=("log_id", "phase_class"),
    for_people=True,
)
