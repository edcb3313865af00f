"""Tables of what is worked out from links: what was wrong with them when, and what logs met there."""

from iomine.schema.table import Table

LINK_USUAL = Table(
    "link_usual",
    "How long data usually waits at a directed link in a night: what later nights are compared with.",
    ("guid", "port", "interval_count", "median_wait_per_word_ratio"),
    grain=("cluster", "night", "guid", "port"),
)
LINK_TROUBLE = Table(
    "link_trouble",
    "Ten minutes in which a directed link was faulty or congested, and what was wrong.",
    (
        *("begin_at", "link_id", "guid", "port", "is_faulty", "is_congested", "trouble", "utilisation_ratio"),
        *("symbol_error_count", "link_recovery_count", "link_downed_count", "rcv_error_count", "xmit_discard_count"),
        *("wait_per_word_ratio", "usual_wait_per_word_ratio", "wait_times_ratio", "degraded_ratio"),
    ),
    grain=("cluster", "night", "begin_at", "guid", "port"),
)
LINK_HOUR = Table(
    "link_hour",
    "What a directed link did in an hour, what was wrong with it, and who moved most there.",
    (
        *("begin_at", "link_id", "guid", "port", "peer_guid", "peer_port", "device", "peer_device", "counted_bytes"),
        *("storage_bytes", "other_bytes", "covered_seconds", "capacity_bytes_per_second", "utilisation_ratio", "link_class"),
        *("peak_utilisation_ratio", "faulty_slot_count", "congested_slot_count", "trouble", "wait_times_ratio"),
        *("symbol_error_count", "link_recovery_count", "link_downed_count", "rcv_error_count", "xmit_discard_count"),
        *("xmit_wait_ticks", "job_count", "user", "job_id", "link_user_ratio", "is_host_end", "is_between_switches"),
    ),
    grain=("cluster", "night", "begin_at", "link_id", "guid", "port"),
)
LOG_LINK = Table(
    "log_link",
    "What a log's I/O moved over a link, and in how many of its ten minutes something was wrong there.",
    (
        *("log_id", "link_id", "guid", "port", "peer_guid", "peer_port", "device", "peer_device", "read_bytes", "write_bytes"),
        *("link_bytes_ratio", "link_straggler_ratio", "is_host_link", "is_server_link", "io_slot_count", "counted_slot_count"),
        *("faulty_slot_count", "congested_slot_count", "collision_slot_count", "link_trouble_own_ratio"),
        *("link_trouble_other_ratio", "link_others", "faulty_trouble", "congested_trouble", "node_kind", "peer_node_kind"),
    ),
    grain=("log_id", "link_id"),
)
LOG_FABRIC = Table(
    "log_fabric",
    "What one log met with on the links that it depended on: faults, congestion, other traffic; and how far it was scattered.",
    (
        *("log_id", "io_slot_count", "heavy_link_count", "counted_slot_ratio", "fabric_gap", "host_link_count"),
        *("leaf_switch_count", "scatter_ratio", "same_switch_ratio", "tier_count"),
        *("faulty_link", "faulty_slot_ratio", "faulty_bytes_ratio", "faulty_straggler_ratio", "faulty_trouble", "faulty_others"),
        *("congested_link", "congested_slot_ratio", "congested_bytes_ratio", "congested_own_ratio", "congested_trouble"),
        *("congested_others", "collision_link", "collision_slot_ratio", "collision_other_ratio", "straggler_link"),
        "straggler_trouble",
    ),
    grain=("log_id",),
)
