"""The words and sizes that iomine writes out by hand are those of libdarshan."""

from collections.abc import Callable
from typing import Any

import oracle
import pytest

from iomine.schema.apmpi import CALL_COUNTERS, MESSAGE_BINS
from iomine.schema.counters import COUNTERS, LUSTRE_COMPONENT
from iomine.sources.darshan import autoperf, dxt, heatmap, lustre
from iomine.sources.darshan.autoperf import CALLS, CARRIES_MESSAGE, SYNCHRONISING
from iomine.sources.darshan.counters import LAYOUTS
from iomine.sources.darshan.decoded import WORD_BYTES

Ask = Callable[..., Any]

_PREFIXES = {"MPI-IO": "MPIIO", "BG/Q": "BGQ"}


@pytest.mark.parametrize("module", sorted(LAYOUTS))
def test_counter_names(module: str, ask: Ask) -> None:
    """A module's counters bear libdarshan's names, in its order."""
    prefix = _PREFIXES.get(module, module)
    # PyDarshan looks for its names under the module's C prefix, which has no slash.
    integers, floats = ask(oracle.counter_names, prefix)
    assert integers == [f"{prefix}_{word}" for word in COUNTERS[module].integers]
    assert floats == [f"{prefix}_{word}" for word in COUNTERS[module].floats]


@pytest.mark.parametrize("module", sorted(LAYOUTS))
def test_record_widths(module: str, ask: Ask) -> None:
    """A record of a module is as wide as libdarshan's struct of it."""
    assert ask(oracle.struct_bytes, LAYOUTS[module].struct) == LAYOUTS[module].width * WORD_BYTES


def test_lustre_component_names(ask: Ask) -> None:
    """The counters of a Lustre component bear libdarshan's names, in its order."""
    assert ask(oracle.lustre_names) == [f"LUSTRE_COMP_{word}" for word in LUSTRE_COMPONENT]


def test_mpi_call_names(ask: Ask) -> None:
    """The counters of MPI calls, and which call has which, are libdarshan's, in its order."""
    sizes = [f"MSG_SIZE_AGG_{size}" for size in MESSAGE_BINS]
    with_message = ["CALL_COUNT", "TOTAL_BYTES", *sizes]
    counters, times, waits = ask(oracle.apmpi_names)
    assert len(with_message) == len(CALL_COUNTERS)
    assert counters == [
        f"MPI_{call}_{word}"
        for call, carries in zip(CALLS, CARRIES_MESSAGE, strict=True)
        for word in (with_message if carries else ["CALL_COUNT"])
    ]
    assert times == [f"MPI_{call}_{edge}_TIME" for call in CALLS for edge in ("TOTAL", "MIN", "MAX")]
    assert waits == [f"MPI_{call}_TOTAL_SYNC_TIME" for call in SYNCHRONISING]


@pytest.mark.parametrize(
    ("struct", "words"),
    [
        ("darshan_apmpi_header_record", autoperf._APMPI_HEAD),
        ("darshan_apmpi_perf_record", autoperf._APMPI_RECORD),
        ("darshan_apxc_header_record", len(autoperf._APXC_RUN)),
        ("darshan_apxc_perf_record", len(autoperf._APXC_ROUTER) + autoperf._APXC_COUNTERS),
        ("darshan_heatmap_record", heatmap._HEAD),
        ("darshan_lustre_component", lustre._COMPONENT_WORDS),
        ("dxt_file_record", dxt._HEAD),
        ("segment_info", dxt._PLAIN),
    ],
)
def test_other_widths(struct: str, words: int, ask: Ask) -> None:
    """A struct that is taken apart by hand is as wide as libdarshan's."""
    assert ask(oracle.struct_bytes, struct) == words * WORD_BYTES
