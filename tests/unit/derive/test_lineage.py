"""What separates the runs of one lineage from those of others."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from iomine.derive import io_signature, lineage_id

_MIB = 1 << 20
_RECORD = st.tuples(st.integers(0, 3), st.integers(-1, 2 * _MIB), st.integers(-1, 2 * _MIB))
_TABLES = st.dictionaries(
    st.sampled_from(["posix_file", "mpiio_file", "stdio_file", "dfs_file", "h5d_dataset"]),
    st.lists(st.lists(_RECORD, max_size=3), min_size=1, max_size=2),
)

Records = dict[str, list[list[tuple[int, int, int]]]]


def _columns(records: Records) -> dict[str, list[dict[str, pa.Array]]]:
    names = ("file_id", "read_bytes", "write_bytes")
    return {
        table: [{name: pa.array([row[place] for row in part], pa.int64()) for place, name in enumerate(names)} for part in parts]
        for table, parts in records.items()
    }


def _by_hand(records: Records) -> str:
    rows = [(table, *row) for table, parts in records.items() for part in parts for row in part if table != "h5d_dataset"]
    through_mpiio = {file for table, file, *_ in rows if table == "mpiio_file"}
    asked = [row for row in rows if not (row[0] == "posix_file" and row[1] in through_mpiio)]
    reads, writes = (sum(max(row[place], 0) for row in asked) >= _MIB for place in (2, 3))
    return {(True, True): "reads and writes", (True, False): "reads", (False, True): "writes"}.get((reads, writes), "little")


@given(_TABLES)
def test_signature_equals_brute_force(records: Records) -> None:
    """Each file counts once, by the layer that the program asked, and what is not known adds nothing."""
    assert [_by_hand(records)] == io_signature(_columns(records))


def test_advice_does_not_change_the_signature() -> None:
    """Data sieving beneath MPI-IO reads what nobody asked for; the same writes through other layers are the same."""
    direct = {"posix_file": [[(1, 0, 9 * _MIB)]]}
    sieving = {"posix_file": [[(1, 4 * _MIB, 9 * _MIB)]], "mpiio_file": [[(1, 0, 9 * _MIB)]]}
    buffered = {"stdio_file": [[(1, 0, 3 * _MIB), (2, 0, 6 * _MIB)]]}
    assert [["writes"]] * 3 == [io_signature(_columns(records)) for records in (direct, sieving, buffered)]


@given(st.integers(1, 2**63 - 1))
def test_scales_are_powers_of_four(nprocs: int) -> None:
    """Runs are of one scale where no power of four lies between their numbers of processes."""
    least = max(4**power for power in range(32) if 4**power <= nprocs)
    ids = [lineage_id(1, "ior", count, "writes") for count in (nprocs, least, 4 * least - 1, 4 * least, least - 1)]
    assert [True, True, False, False] == [each == ids[0] for each in ids[1:]] or least == 1


def test_ids_stay_what_they_are() -> None:
    """An id is what it was in nights before, different for each part of its key; a doubtful number of processes has one too."""
    assert "d5c700a1ffd988b8" == lineage_id(1000, "ior", 4, "writes")
    others = [(1001, "ior", 4, "writes"), (1000, "io", 4, "writes"), (1000, "ior", 16, "writes"), (1000, "ior", 4, "reads")]
    assert 6 == len({lineage_id(*key) for key in [(1000, "ior", 4, "writes"), (1000, 'i"or', -5, "writes"), *others]})
