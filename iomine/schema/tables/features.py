"""Features: what triggers are judged by, mostly a row for each log, worked out once when logs are swept (`sql/features/`)."""

from iomine.schema.table import Table

_GATHERED_WRITES = (
    *("gathered_write_count", "left_write_count", "write_forwarder_count", "collective_write_gathering_ratio"),
    *("buffered_write_gathering_ratio", "vain_write_gathering_ratio"),
)
LOG_REQUESTS = Table(
    "log_requests",
    "The requests of one log: how many are small, go backwards, are misaligned or move bytes again, and what that cost.",
    (
        *("log_id", "is_complete", "small_read_bytes", "small_write_bytes", "read_count", "write_count"),
        *("small_read_count", "small_write_count", "small_read_ratio", "small_write_ratio", "small_read_core_seconds"),
        *("small_write_core_seconds", "small_read_seconds_ratio", "small_write_seconds_ratio", "read_size_evidence"),
        *("write_size_evidence", "backward_read_count", "backward_write_count", "backward_read_ratio"),
        *("backward_write_ratio", "backward_read_core_seconds", "backward_write_core_seconds"),
        *("backward_read_seconds_ratio", "backward_write_seconds_ratio", "read_order_evidence", "write_order_evidence"),
        *("misaligned_count", "misaligned_ratio", "misaligned_core_seconds", "misaligned_seconds_ratio"),
        *("mpiio_misaligned_count", "mpiio_misaligned_ratio", "mpiio_misaligned_core_seconds"),
        *("mpiio_misaligned_seconds_ratio", "reread_bytes", "rewritten_bytes", "reread_ratio", "rewritten_ratio"),
        *("reread_core_seconds", "rewritten_core_seconds", "read_extent_evidence", "write_extent_evidence"),
        *("small_read_path", "small_write_path", "misaligned_path", "reread_path", "rewritten_path"),
        *("gathered_read_count", "left_read_count", "read_forwarder_count", "collective_read_gathering_ratio"),
        *("buffered_read_gathering_ratio", "vain_read_gathering_ratio"),
        *_GATHERED_WRITES,
    ),
    grain=("log_id",),
    for_people=True,
)
DARSHAN_BUILD = Table(
    "darshan_build",
    "What Darshan of one version saw on a machine in a night: what one log shows that it can count holds for the others.",
    ("darshan_version", "stat_count"),
    grain=("cluster", "night", "darshan_version"),
)
LOG_META_PROFILE = Table(
    "log_meta_profile",
    "What metadata calls of POSIX and stdio cost one log, and how many there were.",
    (
        *("log_id", "is_complete", "meta_core_seconds", "io_core_seconds", "meta_ratio", "meta_seconds_per_rank"),
        *("open_count", "stat_count", "meta_call_count", "meta_call_ratio", "meta_calls_per_second"),
        *("longest_meta_seconds", "longest_meta_path", "looping_call_count"),
    ),
    grain=("log_id",),
    for_people=True,
)
LOG_RANK_PROFILE = Table(
    "log_rank_profile",
    "How evenly the ranks of one log shared its I/O: stragglers, bytes by rank, what rank 0 did for all.",
    (
        *("log_id", "is_complete", "rank_evidence", "straggler_evidence", "straggler_count", "straggler_rank"),
        *("straggler_host", "straggler_ost_id", "straggler_ost_ratio", "straggler_slowdown_ratio", "straggler_wait_ratio"),
        *("straggler_core_seconds", "heaviest_rank"),
        *("heaviest_rank_bytes", "imbalance_core_seconds", "idle_rank_count", "mean_rank_bytes"),
        *("bytes_max_over_mean_ratio", "bytes_variation_ratio", "bytes_gini_ratio", "rank0_read_bytes"),
        *("rank0_write_bytes", "rank0_bytes", "rank0_read_ratio", "rank0_write_ratio", "rank0_ratio"),
        *("rank0_read_core_seconds", "rank0_write_core_seconds", "rank0_core_seconds", "rank0_read_idle_core_seconds"),
        *("rank0_write_idle_core_seconds", "rank0_idle_core_seconds", "heaviest_rank_idle_core_seconds"),
        *("straggler_idle_core_seconds", "straggler_link", "straggler_trouble", "straggler_slow_host"),
    ),
    grain=("log_id",),
    for_people=True,
)
LOG_WAIT_PROFILE = Table(
    "log_wait_profile",
    "How long the ranks of one log waited for each other within MPI-IO, and for whom.",
    (
        *("log_id", "is_complete", "late_core_seconds", "late_seconds_ratio", "late_run_ratio", "late_rank", "waited_for"),
        *("late_rank_evidence", "late_path"),
    ),
    grain=("log_id",),
    for_people=True,
)
LOG_SYNC_PROFILE = Table(
    "log_sync_profile",
    "How often one log asked the system to write data out (sync), after how little, and what that cost.",
    (
        *("log_id", "is_complete", "sync_count", "synced_write_count", "sync_ratio", "sync_interval_bytes", "sync_core_seconds"),
        *("sync_seconds_ratio", "sync_evidence", "sync_path"),
    ),
    grain=("log_id",),
    for_people=True,
)
LOG_SLOW_FILE_PROFILE = Table(
    "log_slow_file_profile",
    "The files of one log whose requests took far longer than those of similar files: same directory, size and access.",
    (
        *("log_id", "is_complete", "slow_file_count", "like_file_count", "slow_file_slowdown_ratio", "slow_file_wait_ratio"),
        *("slow_file_core_seconds", "slow_file_path"),
    ),
    grain=("log_id",),
    for_people=True,
)
LOG_COLLECTIVE_PROFILE = Table(
    "log_collective_profile",
    "How one log used MPI-IO: independent and collective calls, blocking ones, and bytes beneath it that nobody asked for.",
    (
        *("log_id", "is_complete", "indep_read_requests_count", "indep_write_requests_count", "indep_read_ratio"),
        *("indep_write_ratio", "indep_read_core_seconds", "indep_write_core_seconds", "indep_read_seconds_ratio"),
        *("indep_write_seconds_ratio", "blocking_ratio", "blocking_core_seconds", "io_ratio"),
        *("read_amplification_ratio", "write_amplification_ratio", "read_amplification_core_seconds"),
        *("write_amplification_core_seconds", "indep_read_path", "indep_write_path"),
    ),
    grain=("log_id",),
    for_people=True,
)
LOG_FILE_PROFILE = Table(
    "log_file_profile",
    "The files of one log: how many belong to one rank alone, how many are small, and what went through stdio.",
    (
        *("log_id", "is_complete", "file_count", "own_file_count", "own_files_per_rank_ratio", "own_file_core_seconds"),
        *(
            "small_file_bytes",
            "small_file_count",
            "small_file_ratio",
            "small_file_core_seconds",
            "data_stdio_ratio",
            "stdio_core_seconds",
        ),
        *("stdio_path", "io_core_seconds", "io_ratio", "io_seconds_per_mib", "gathered_file_count"),
    ),
    grain=("log_id",),
    for_people=True,
)
LOG_CREATE_PROFILE = Table(
    "log_create_profile",
    "How many files one log created within a second, on which mount and in how many directories, and what that cost.",
    (
        *("log_id", "is_complete", "created_file_count", "peak_create_count", "borne_create_count", "peak_create_ratio"),
        *("peak_start_seconds", "burst_creates_per_second", "directory_count", "fullest_directory_create_count"),
        *("create_core_seconds", "peak_mount"),
    ),
    grain=("log_id",),
    for_people=True,
)
LOG_STRIPE_PROFILE = Table(
    "log_stripe_profile",
    "How one log's files lie on Lustre: big shared files on few OSTs, small files on many.",
    (
        *("log_id", "is_complete", "single_ost_bytes", "single_ost_file_count", "single_ost_core_seconds", "single_ost_path"),
        "single_ost_rank_count",
        *("striped_shared_bytes", "striped_shared_stripe_count", "striped_shared_file_count", "striped_shared_core_seconds"),
        "striped_shared_path",
        *("ranks_per_ost_ratio", "overstriped_file_count", "overstriped_file_ratio", "overstriped_core_seconds"),
    ),
    grain=("log_id",),
    for_people=True,
)
LOG_PHASE_PROFILE = Table(
    "log_phase_profile",
    "The phases of I/O of one log as a whole: how many there are, and in how many of them a rank straggled.",
    (
        *("log_id", "is_complete", "phase_evidence", "io_phase_count", "bursts_per_rank", "phase_straggler_count"),
        *("phase_straggler_ratio", "phase_straggler_core_seconds", "phase_straggler_seconds_ratio", "phase_straggler_ost_id"),
        "phase_straggler_ost_ratio",
        "phase_straggler_host",
    ),
    grain=("log_id",),
    for_people=True,
)
LOG_OST_PROFILE = Table(
    "log_ost_profile",
    "How one log's bytes lie on the OSTs of Lustre, how much more the busiest got, and which OSTs were slow.",
    (
        *("log_id", "is_complete", "ost_evidence", "ost_count", "busiest_ost_id", "busiest_ost_bytes"),
        *("busiest_ost_core_seconds", "ost_max_over_mean_ratio", "busiest_ost_ratio", "known_ost_count", "nprocs"),
        *("single_ost_bytes", "busiest_ost_seconds_ratio", "slow_ost_id", "slow_ost_count", "compared_ost_count"),
        *("slow_ost_slowness_ratio", "slow_ost_wait_ratio", "slow_ost_core_seconds", "slow_ost_bytes", "slow_ost_evidence"),
    ),
    grain=("log_id",),
    for_people=True,
)
LOG_OVERLAP_PROFILE = Table(
    "log_overlap_profile",
    "How the ranks of one log met in files: bytes that several moved, stripes that several wrote, requests across stripes.",
    (
        *("log_id", "is_complete", "overlap_evidence", "ranks_reread_bytes", "hosts_reread_bytes", "ranks_reread_ratio"),
        *("ranks_reread_core_seconds", "ranks_reread_path", "overwritten_bytes", "overwriting_rank_count"),
        *("overwritten_ratio", "overwritten_core_seconds", "overwritten_path", "shared_stripe_count"),
        *("shared_stripe_ratio", "shared_stripe_core_seconds", "shared_stripe_path", "host_count", "straddle_count"),
        *("straddle_ratio", "straddle_core_seconds", "straddle_path"),
        *_GATHERED_WRITES,
    ),
    grain=("log_id",),
    for_people=True,
)
LOG_TRANSFORM_PROFILE = Table(
    "log_transform_profile",
    "What MPI-IO made of the requests of one log: collective calls that had no effect, and reads made in order to write.",
    (
        *("log_id", "is_complete", "transform_evidence", "stayed_small_count", "stayed_small_ratio"),
        *("stayed_small_seconds_ratio", "stayed_small_core_seconds", "stayed_small_path", "sieve_read_bytes"),
        *("write_bytes", "sieve_read_ratio", "sieve_read_core_seconds", "sieve_read_path"),
    ),
    grain=("log_id",),
    for_people=True,
)
LOG_WEATHER_PROFILE = Table(
    "log_weather_profile",
    "How servers dealt with one log's requests and who kept them busy, and how long its I/O took compared with its lineage.",
    (
        *("log_id", "is_complete", "server_verdict", "server_rule", "weather_slowdown_ratio", "lost_service_seconds"),
        *("slowest_kind", "own_ratio", "neighbour", "neighbour_job_id", "neighbour_ratio", "ost_contention_ratio"),
        *("others_ratio", "ost_slowdown_ratio", "ost_load_over_mean_ratio", "mdt_slowdown_ratio", "mdt_own_ratio"),
        *("mdt_others_ratio", "mdt_rpc_count", "load_percentile", "own_bytes_ratio", "fullest_ratio"),
        *("lineage_run_count", "alike_run_count", "run_slowdown_ratio", "did_more_ratio", "differences"),
    ),
    grain=("log_id",),
)
LOG_FABRIC_PROFILE = Table(
    "log_fabric_profile",
    "What one log met with on the fabric: the links that it depended on, what was wrong with them, and who else was there.",
    (
        *("log_id", "is_complete", "fabric_verdict", "fabric_rule", "io_slot_count", "heavy_link_count", "faulty_link"),
        *("faulty_slot_ratio", "faulty_bytes_ratio", "faulty_trouble", "faulty_others", "congested_link"),
        *("congested_slot_ratio", "congested_bytes_ratio", "congested_own_ratio", "congested_others_ratio"),
        *("congested_trouble", "congested_others", "collision_link", "collision_slot_ratio", "collision_other_ratio"),
        *("host_link_count", "leaf_switch_count", "scatter_ratio", "same_switch_ratio", "tier_count"),
    ),
    grain=("log_id",),
    for_people=True,
)
DRISHTI_POSIX = Table(
    "drishti_posix",
    "What Drishti works out of one log's POSIX records, its oddities included; its triggers read no other view of POSIX.",
    (
        *("log_id", "is_complete", "read_count", "write_count", "read_bytes", "write_bytes", "read_count_lead_ratio"),
        *("write_count_lead_ratio", "read_bytes_lead_ratio", "write_bytes_lead_ratio", "small_read_count"),
        *("small_write_count", "small_read_ratio", "small_write_ratio", "mem_not_aligned_ratio"),
        *("file_not_aligned_ratio", "read_offset_lead_bytes", "write_offset_lead_bytes", "random_read_count"),
        *("random_write_count", "random_read_ratio", "random_write_ratio", "shared_read_count", "shared_write_count"),
        *("small_shared_read_count", "small_shared_write_count", "small_shared_read_ratio", "small_shared_write_ratio"),
        *("longest_meta_seconds", "shared_bytes_spread_ratio", "shared_seconds_spread_ratio", "own_read_spread_ratio"),
        "own_write_spread_ratio",
        *("shared_record_count", "own_record_count"),
    ),
    grain=("log_id",),
)
DRISHTI_MPIIO = Table(
    "drishti_mpiio",
    "What Drishti works out of one log's MPI-IO records, and whether it has any; split calls are not counted, as there.",
    (
        *("log_id", "is_complete", "no_mpiio", "record_count", "mpiio_read_count", "mpiio_write_count"),
        *("coll_read_count", "coll_write_count", "nb_read_count", "nb_write_count"),
    ),
    grain=("log_id",),
)
DRISHTI_STDIO = Table(
    "drishti_stdio",
    "The share of stdio in the bytes that one log moved, as Drishti adds them up: POSIX, STDIO and MPI-IO alone.",
    (*("log_id", "is_complete", "stdio_bytes", "stdio_ratio"),),
    grain=("log_id",),
)
DRISHTI_AGGREGATORS = Table(
    "drishti_aggregators",
    "How many aggregators the hint cb_nodes asks for in one log that used MPI-IO, compared with the nodes that the log names.",
    (
        *("log_id", "is_complete", "aggregator_count", "job_node_count", "node_evidence", "aggregators_differ"),
        "aggregator_order",
    ),
    grain=("log_id",),
)
LOG_ACTIVITY = Table(
    "log_activity",
    "What one log did of each kind that triggers ask about, and what it lacks to answer them; NULL where nothing is lacking.",
    (
        *("log_id", "process_count", "data_read_count", "data_write_count", "asked_read_bytes", "asked_write_bytes"),
        *("posix_read_count", "posix_write_count", "direct_request_count", "beneath_request_count", "touched_file_count"),
        *("posix_file_count", "data_file_count", "hdf5_file_count", "known_node_count"),
        *("mpiio_call_count", "mpiio_read_request_count", "mpiio_write_request_count", "shared_mpiio_read_count"),
        *("shared_mpiio_write_count", "collective_request_count", "lustre_file_count", "shared_lustre_file_count"),
        *("striped_file_count", "posix_data_count", "timed_rank_count", "data_lack", "posix_lack"),
        *("mpiio_lack", "trace_lack", "mpiio_trace_lack", "layout_lack", "rank_lack", "rank_time_lack", "host_lack"),
        *("phase_lack", "stat_lack", "statistics_lack", "fabric_lack"),
    ),
    grain=("log_id",),
    for_people=True,
)
COST_CLAIM = Table(
    "cost_claim",
    "The part of a log's I/O time that each cost is about: files of which the costs come in the same order make one group.",
    ("log_id", "claim_group", "cost_name", "claim_core_seconds"),
    grain=("log_id", "claim_group", "cost_name"),
)
IO_PART = Table(
    "io_part",
    "What the I/O time of one log was spent on: reads, writes, metadata calls, waiting or exchange in MPI-IO; they add up to it.",
    ("log_id", "read_part_core_seconds", "write_part_core_seconds", "meta_part_core_seconds", "waiting_part_core_seconds"),
    grain=("log_id",),
)
LOG_LAYER = Table(
    "log_layer",
    "What a log did in one layer as a whole, and how fast that was by Darshan's estimate, which waits for the slowest rank.",
    (
        *("log_id", "layer", "file_count", "read_bytes", "write_bytes", "read_count", "write_count", "read_core_seconds"),
        *("write_core_seconds", "meta_core_seconds", "slowest_io_seconds", "moved_bytes_per_second"),
    ),
    grain=("log_id", "layer"),
)
