"""Words of the AutoPerf modules: MPI calls by rank (APMPI) and Cray Aries router counters (APXC).

Both keep hundreds of counters that differ only in the name of the call or the router tile, so here a call or a tile is
a row, not a column. Order and names are those of `darshan-apmpi-log-format.h` and `darshan-apxc-log-format.h`.
"""

from typing import Final

from iomine.schema.fields import Field, Kind, Privacy

MESSAGE_BINS: Final = ("0_256", "256_1K", "1K_8K", "8K_256K", "256K_1M", "1M_PLUS")

# What the record counts for calls that carry a message, and for those that do not.
CALL_COUNTERS: Final = ("call_count", "total_bytes", *(f"message_size_{size.lower()}_count" for size in MESSAGE_BINS))
CALL_TIMES: Final = ("total_seconds", "min_seconds", "max_seconds")


def _about(size: str) -> str:
    low, _, high = size.partition("_")
    return f"Calls with a message longer than {low}." if high == "PLUS" else f"Calls with a message of {low} to {high} bytes."


APMPI_FIELDS: Final[dict[str, Field]] = {
    field.name: field
    for field in (
        Field("mpi_call", Kind.LABEL, "Name of the MPI function.", Privacy.OPEN),
        Field("call_count", Kind.COUNT, "Calls."),
        Field("total_bytes", Kind.BYTES, "Bytes in messages."),
        *(Field(f"message_size_{size.lower()}_count", Kind.COUNT, _about(size)) for size in MESSAGE_BINS),
        Field("total_seconds", Kind.SECONDS, "Time in the calls."),
        Field("min_seconds", Kind.SECONDS, "Duration of the fastest call."),
        Field("max_seconds", Kind.SECONDS, "Duration of the slowest call."),
        Field("sync_seconds", Kind.SECONDS, "Time spent waiting for other ranks before a collective call."),
        Field("comm_seconds", Kind.SECONDS, "Time of the rank in all MPI calls."),
        Field("comm_sync_seconds", Kind.SECONDS, "Time of the rank waiting for others before collective calls."),
        Field("sync_flag", Kind.INTEGER, "1 where waiting before collective calls was timed."),
        Field("comm_seconds_variance", Kind.NUMBER, "Variance over ranks of the time in MPI calls, in s²."),
        Field("comm_sync_seconds_variance", Kind.NUMBER, "Variance over ranks of the time waiting, in s²."),
        Field("magic", Kind.INTEGER, "Number that marks a header record."),
        Field("group_index", Kind.INTEGER, "Group of the Aries network.", Privacy.NUMBER),
        Field("chassis_index", Kind.INTEGER, "Chassis in the group.", Privacy.NUMBER),
        Field("blade_index", Kind.INTEGER, "Blade in the chassis.", Privacy.NUMBER),
        Field("node_index", Kind.INTEGER, "Node on the blade.", Privacy.NUMBER),
        Field("blade_count", Kind.COUNT, "Blades that the run touched."),
        Field("chassis_count", Kind.COUNT, "Chassis that the run touched."),
        Field("group_count", Kind.COUNT, "Groups that the run touched."),
        Field("memory_mode", Kind.INTEGER, "Memory mode of the KNL nodes, as Darshan codes it."),
        Field("cluster_mode", Kind.INTEGER, "Cluster mode of the KNL nodes, as Darshan codes it."),
        Field("application_id", Kind.ID, "ALPS application id.", Privacy.NUMBER),
        Field("router_counts", Kind.INTEGERS, "The router's counters, in the order of Darshan's APXC list."),
    )
}
