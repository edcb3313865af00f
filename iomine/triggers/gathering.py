"""What triggers say where a trace shows what gathering its requests would leave, with the knobs that set it."""

from typing import Final, NamedTuple

from iomine.triggers.inputs import with_hdf5, with_mpiio
from iomine.triggers.model import Advice, Instead, Op

_LEFT: Final = "{{left_{op}_count}} of {{gathered_{op}_count}} traced {op}s"
_STRIPES: Final = {"read": "", "write": ", striping_unit=4194304"}


class Texts(NamedTuple):
    """What a trigger says of requests in one direction.

    Attributes:
        finding: its finding.
        advice: its advice, without that to gather.
        gathering: its advice to gather, which is left out if that would not help.
    """

    finding: str
    advice: Advice
    gathering: Advice


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
    return (
        Instead(
            f"collective_{op}_gathering_ratio",
            finding=f"{texts.finding} Collective calls would leave {left}.",
            advice=(*texts.advice, *texts.gathering, *_collective(op, left)),
        ),
        Instead(
            f"buffered_{op}_gathering_ratio",
            finding=f"{texts.finding} Gathered in memory, {left} would be left.",
            advice=(*texts.advice, *_buffered(op, left)),
        ),
        Instead(
            f"vain_{op}_gathering_ratio",
            finding=f"{texts.finding} Aggregation would not help: {left} would be left at best.",
            advice=texts.advice,
        ),
    )


def _collective(op: Op, left: str) -> Advice:
    count = f"{{{op}_forwarder_count:.0f}}"
    hints = f"romio_cb_{op}=enable, cb_nodes={count}, cb_buffer_size=4194304{_STRIPES[op]}"
    return (
        f"If {count} ranks {op} for the others, {left} are left.",
        with_mpiio(f"With the hints {hints}, collective calls of MPI-IO do so."),
        with_hdf5("HDF5 subfiling with as many I/O concentrators does the same (H5Pset_fapl_subfiling)."),
    )


def _buffered(op: Op, left: str) -> Advice:
    count = f"{{{op}_forwarder_count:.0f}}"
    if op == "read":
        return (f"Read ahead in blocks of 4 MiB on {count} ranks, which leaves {left}; each passes on what other ranks ask for.",)
    return (
        f"Gather what is written within a second on {count} ranks or in a buffer on each node, which leaves {left}.",
        with_hdf5("HDF5 subfiling does so (H5Pset_fapl_subfiling)."),
    )
