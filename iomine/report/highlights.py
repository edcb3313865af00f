"""What findings are about, as conditions on traced requests.

A finding that names a file, a rank, an OST or a kind of requests can be shown in the trace; one about counts alone cannot.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from iomine.report.facts import Facts, Row
from iomine.report.trace import Highlight
from iomine.units import visible

_MOST_TEXT: Final = 300


@dataclass(frozen=True, slots=True)
class _About:
    """Where a trigger's metrics and settings say what it is about.

    Attributes:
        layer: of the requests.
        op: their direction.
        path: the metric that names their file.
        rank: the metric that names their rank, or the rank.
        ost: the metric that names their OST.
        below: the setting below which they are small.
    """

    layer: str | None = None
    op: str | None = None
    path: str | None = None
    rank: str | int | None = None
    ost: str | None = None
    below: str | None = None


_ABOUT: Final[Mapping[str, _About]] = {
    "LUSTRE-101": _About("posix", path="single_ost_path"),
    "LUSTRE-103": _About("posix", path="striped_shared_path"),
    "LUSTRE-201": _About("posix", ost="busiest_ost_id"),
    "LUSTRE-202": _About("posix", ost="busiest_ost_id"),
    "LUSTRE-203": _About("posix", ost="slow_ost_id"),
    "LUSTRE-301": _About("posix", path="shared_stripe_path"),
    "LUSTRE-302": _About("posix", path="straddle_path"),
    "MPIIO-101": _About("mpiio", "read", path="indep_read_path"),
    "MPIIO-102": _About("mpiio", "write", path="indep_write_path"),
    "MPIIO-103": _About("mpiio", path="stayed_small_path"),
    "MPIIO-303": _About("posix", "read", path="sieve_read_path"),
    "POSIX-101": _About("posix", "read", below="small_read_bytes"),
    "POSIX-102": _About("posix", "write", below="small_write_bytes"),
    "POSIX-121": _About("posix", path="misaligned_path"),
    "POSIX-131": _About("posix", "read", path="reread_path"),
    "POSIX-132": _About("posix", "write", path="rewritten_path"),
    "POSIX-133": _About("posix", "read", path="ranks_reread_path"),
    "POSIX-134": _About("posix", "write", path="overwritten_path"),
    "RANK-101": _About(rank="straggler_rank"),
    "RANK-201": _About(rank="heaviest_rank"),
    "RANK-301": _About(op="read", rank=0),
    "RANK-302": _About(op="write", rank=0),
    "RANK-303": _About(rank=0),
}


def highlights_of(facts: Facts) -> list[Highlight]:
    """What can be highlighted in the trace for each finding that names requests, files, ranks or OSTs."""
    found = (_highlight(finding) for finding in facts.findings)
    return [highlight for highlight in found if highlight]


def _highlight(finding: Row) -> Highlight | None:
    code, metrics = finding["code"], finding["metrics"]
    about = _ABOUT.get(code)
    if about is None or any(metrics.get(name) is None for name in _named(about)):
        return None
    return Highlight(
        code=code,
        text=visible(finding["finding"] or "")[:_MOST_TEXT],
        layers=[about.layer] if about.layer else None,
        ops=[about.op] if about.op else None,
        paths=[metrics[about.path]] if about.path else None,
        ranks=None if about.rank is None else [metrics.get(about.rank, about.rank)],
        ost_ids=[metrics[about.ost]] if about.ost else None,
        length_bytes_below=metrics[about.below] if about.below else None,
    )


def _named(about: _About) -> list[str]:
    """Metrics without which there is nothing to show."""
    return [name for name in (about.path, about.rank, about.ost, about.below) if isinstance(name, str)]
