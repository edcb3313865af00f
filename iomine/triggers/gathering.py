"""What triggers say where a trace shows what gathering its requests would leave, with the knobs that set it."""

from typing import Final, NamedTuple

from iomine.triggers.model import Instead, Op

_LEFT: Final = "{{left_{op}_count}} of {{gathered_{op}_count}} traced {op}s"
_COUNT: Final = "{{{op}_forwarder_count:.0f}}"
_HDF5: Final = "HDF5 subfiling (H5Pset_fapl_subfiling)"
_COLLECTIVE: Final = {
    "read": (
        f"With MPI-IO's hints romio_cb_read=enable, cb_nodes={_COUNT} and cb_buffer_size=4194304, collective reads leave "
        f"{_LEFT}. {_HDF5} with as many I/O concentrators does as much, and so does PnetCDF with nc_num_aggrs_per_node."
    ),
    "write": (
        f"With MPI-IO's hints romio_cb_write=enable, cb_nodes={_COUNT}, cb_buffer_size=4194304 and striping_unit=4194304, "
        f"collective writes leave {_LEFT}. {_HDF5} with as many I/O concentrators does as much, and so do ADIOS2 with "
        f"NumAggregators={_COUNT} and PnetCDF with nc_num_aggrs_per_node."
    ),
}
_BUFFERED: Final = {
    "read": f"Read ahead in blocks of 4 MiB on {_COUNT} ranks, which leaves {_LEFT}; each passes on what other ranks ask for.",
    "write": (
        f"Gather what is written within a second on {_COUNT} ranks, which leaves {_LEFT}: {_HDF5}, ADIOS2 with "
        f"NumAggregators={_COUNT}, SIONlib with {_COUNT} files, or a buffer on the node."
    ),
}


class Texts(NamedTuple):
    """What a trigger says of requests in one direction.

    Attributes:
        finding: its finding.
        advice: its advice, without that to gather.
        gathering: its advice to gather, which is left out where that would not help.
    """

    finding: str
    advice: str
    gathering: str


def example_of(op: Op) -> dict[str, float]:
    """All that may be known of gathering requests in a direction, for a trigger's cases."""
    return {
        f"gathered_{op}_count": 10000,
        f"left_{op}_count": 200,
        f"{op}_forwarder_count": 16,
        f"collective_{op}_gathering_ratio": 50.0,
        f"buffered_{op}_gathering_ratio": 50.0,
        f"vain_{op}_gathering_ratio": 1.2,
    }


def where_gathered(op: Op, texts: Texts) -> tuple[Instead, ...]:
    """What is said where gathering would leave four times fewer requests, or not even one and a half times fewer.

    The metrics are those of the view `core.log_gathering`, for one direction.
    """
    left = _LEFT.format(op=op)
    collective, buffered = (each[op].format(op=op) for each in (_COLLECTIVE, _BUFFERED))
    return (
        Instead(
            f"collective_{op}_gathering_ratio",
            finding=f"{texts.finding} Collective calls would leave {left}.",
            advice=f"{texts.advice} {texts.gathering} {collective}",
        ),
        Instead(
            f"buffered_{op}_gathering_ratio",
            finding=f"{texts.finding} Gathered in memory, {left} would be left.",
            advice=f"{texts.advice} {buffered}",
        ),
        Instead(
            f"vain_{op}_gathering_ratio",
            finding=f"{texts.finding} Aggregation would not help: {left} would be left at best.",
            advice=texts.advice,
        ),
    )
