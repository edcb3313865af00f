"""Tables of what the fabric between nodes and servers says of itself, as it was read, and of what follows from that.

A link is named by the end whose (guid, port) is the lesser; a *directed* link by the (guid, port) that sends.
"""

from iomine.schema.table import Table

FABRIC_NODE = Table(
    "fabric_node",
    "A switch or an adapter of the fabric at the time of reading; what was read holds until the next reading.",
    (
        *("sampled_at", "guid", "node_kind", "description", "host", "lid", "lmc", "port_count", "chassis_guid"),
        *("tier", "place"),
    ),
)
FABRIC_LINK = Table(
    "fabric_link",
    "A link at the time of reading, once; what was read holds until the next reading.",
    (
        *("sampled_at", "link_id", "guid", "port", "peer_guid", "peer_port", "lanes", "speed", "capacity_bytes_per_second"),
        *("is_up", "lid", "peer_lid", "port_guid", "peer_port_guid"),
    ),
)
FABRIC_ROUTE = Table(
    "fabric_route",
    "The forwarding table of a switch at the time of reading; it holds until the next reading.",
    ("sampled_at", "guid", "out_ports"),
)
FABRIC_NAME = Table(
    "fabric_name",
    "Another name of a guid, an address or a target of the fabric: its host or network id.",
    ("sampled_at", "name_kind", "name", "alias"),
)
PORT_READING = Table(
    "port_reading",
    "The counters of a port at the time of reading; they grow until somebody clears them or the device starts again.",
    (
        *("sampled_at", "guid", "lid", "port", "xmit_bytes", "rcv_bytes", "xmit_packet_count", "rcv_packet_count"),
        *("unicast_xmit_packet_count", "unicast_rcv_packet_count", "multicast_xmit_packet_count", "multicast_rcv_packet_count"),
        *("xmit_wait_ticks", "symbol_error_count", "link_recovery_count", "link_downed_count", "rcv_error_count"),
        *("xmit_discard_count", "vl15_dropped_count", "is_saturated"),
    ),
)
LINK_INTERVAL = Table(
    "link_interval",
    "What a directed link did between two readings of the port that sends.",
    (
        *("begin_at", "interval_seconds", "link_id", "guid", "port", "moved_bytes", "packet_count", "multicast_packet_count"),
        *("capacity_bytes_per_second", "utilisation_ratio", "link_class", "xmit_wait_ticks", "wait_per_word_ratio"),
        *("symbol_error_count", "link_recovery_count", "link_downed_count", "rcv_error_count", "xmit_discard_count", "quality"),
    ),
)
JOB_LINK = Table(
    "job_link",
    "What a log's I/O moved over a directed link in ten minutes.",
    (
        *("begin_at", "log_id", "job_id", "user", "link_id", "guid", "port", "op", "moved_bytes"),
        *("is_host_link", "is_server_link", "fabric_evidence", "straggler_bytes"),
    ),
)
LINK_SLOT = Table(
    "link_slot",
    "What moved over a directed link in ten minutes: all, as its ports count; storage traffic, as logs count it; and the rest.",
    (
        *("begin_at", "link_id", "guid", "port", "counted_bytes", "storage_bytes", "other_bytes", "covered_seconds"),
        *("capacity_bytes_per_second", "utilisation_ratio", "link_class", "log_count", "exceeds_counted"),
    ),
)
JOB_ROUTE = Table(
    "job_route",
    "What is known of the way of a log's bytes over the fabric: how many of them could be routed, and what the rest lacks.",
    (
        *(
            "log_id",
            "moved_bytes",
            "routed_bytes",
            "straggler_bytes",
            "host_link_bytes",
            "server_link_bytes",
            "switch_count",
            "leaf_switch_count",
        ),
        *("tier_count", "same_switch_ratio", "fabric_evidence", "unrouted_reason", "adapter_evidence", "host_evidence"),
        "target_evidence",
    ),
    grain=("log_id",),
)
FABRIC_LAYOUT = Table(
    "fabric_layout",
    "Where a device stands in the picture of the fabric, for the reading of the same time.",
    ("sampled_at", "guid", "x", "y", "bundle"),
)
LINK_NIGHT = Table(
    "link_night",
    "What a directed link did in a night, whole and in ten minutes each, as pictures of the fabric need it.",
    (
        *("link_id", "guid", "port", "counted_bytes", "storage_bytes", "other_bytes", "covered_seconds"),
        *("capacity_bytes_per_second", "utilisation_ratio", "peak_utilisation_ratio", "wait_per_word_ratio", "link_error_count"),
        *("multicast_packet_ratio", "utilisation_levels", "storage_levels", "waiting_levels", "error_levels", "multicast_levels"),
    ),
    grain=("cluster", "night", "guid", "port"),
)
