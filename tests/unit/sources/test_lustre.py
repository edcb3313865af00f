"""Lustre layouts of both record versions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from writing import Blueprint, Module, lustre_v1_record, lustre_v2_record, words

from iomine.sources.darshan.lustre import Components, decode_lustre

_OSTS = st.lists(st.integers(0, 2**31), max_size=5)
_NOT_SAID = {"stripe_pattern": -1, "component_flags": -1, "extent_start_bytes": 0, "extent_end_bytes": -1, "mirror_id": -1}


@pytest.mark.parametrize("order", ["<", ">"])
def test_version_1(order: str, read, rows) -> None:
    """A record of version 1 is one component over the whole file; what it does not say is as libdarshan gives it."""
    data = lustre_v1_record(order, [7, 3]) + lustre_v1_record(order, [], rank=-1)
    log = read(Blueprint({"LUSTRE": Module(1, [data])}, order=order))
    common = {"file_id": 5, "component": 0, "stripe_bytes": 1 << 20, "pool_name": None, "fs_ost_count": 96, "fs_mdt_count": 5}
    assert [
        common | _NOT_SAID | {"rank": 0, "stripe_count": 2, "ost_ids": [7, 3]},
        common | _NOT_SAID | {"rank": -1, "stripe_count": 0, "ost_ids": []},
    ] == rows(log, "lustre_component")
    assert [(2, "read")] == [(module.record_count, module.state) for module in log.modules]


@pytest.mark.parametrize("order", ["<", ">"])
def test_version_2(order: str, read, rows) -> None:
    """A record of version 2 has a row for each component, with its own OSTs, extent and pool."""
    log = read(Blueprint({"LUSTRE": Module(2, [lustre_v2_record(order, [[4], [5, 6]], pool=b"flash\xff\0junk")])}, order=order))
    common = {"file_id": 5, "rank": 0, "stripe_bytes": 1 << 20, "stripe_pattern": 1, "component_flags": 16, "mirror_id": 3}
    common |= {"extent_end_bytes": -1, "pool_name": "flash\\xff", "fs_ost_count": None, "fs_mdt_count": None}
    assert [
        common | {"component": 0, "stripe_count": 1, "extent_start_bytes": 0, "ost_ids": [4]},
        common | {"component": 1, "stripe_count": 2, "extent_start_bytes": 1 << 20, "ost_ids": [5, 6]},
    ] == rows(log, "lustre_component")
    assert [(1, "read")] == [(module.record_count, module.state) for module in log.modules]


def test_record_without_components() -> None:
    """A record without components has one row, with nothing but its file and rank."""
    decoded = decode_lustre(lustre_v2_record("<", []), 2, "<")
    columns = decoded.tables["lustre_component"]
    assert {"file_id": [5], "rank": [0]} == {
        name: values.to_pylist() for name, values in columns.items() if not values.null_count
    }
    assert decoded.record_count == 1


@given(st.sampled_from("<>"), st.lists(st.lists(_OSTS, max_size=3), min_size=1, max_size=4))
def test_osts_go_to_their_component(order: str, records: list[list[list[int]]]) -> None:
    """OSTs follow after all components, and each component gets its own, in stripe order."""
    data = b"".join(lustre_v2_record(order, components, rank=rank) for rank, components in enumerate(records))
    decoded = decode_lustre(data, 2, order)
    columns = decoded.tables["lustre_component"]
    got = zip(*(columns[name].to_pylist() for name in ("rank", "component", "ost_ids")), strict=True)
    expected = [
        row
        for rank, components in enumerate(records)
        for row in ([(rank, number, osts) for number, osts in enumerate(components)] or [(rank, None, None)])
    ]
    assert expected == list(got)
    assert (len(records), "") == (decoded.record_count, decoded.damage)


@st.composite
def _modules(draw) -> tuple[Components, list[dict[str, object]]]:
    """Records of one log, and the rows that they are."""
    order, version, pool = draw(st.sampled_from("<>")), draw(st.sampled_from((1, 2))), draw(st.sampled_from((b"", b"flash")))
    records = draw(st.lists(st.lists(_OSTS, max_size=3), min_size=1, max_size=4))
    if version == 1:
        data, rows = b"".join(lustre_v1_record(order, (osts or [[]])[0]) for osts in records), []
        for osts in records:
            own = (osts or [[]])[0]
            said = {"stripe_count": len(own), "ost_ids": own, "pool_name": None, "fs_ost_count": 96, "fs_mdt_count": 5}
            rows.append({"file_id": 5, "rank": 0, "component": 0, "stripe_bytes": 1 << 20} | _NOT_SAID | said)
    else:
        data = b"".join(lustre_v2_record(order, osts, rank=rank, pool=pool) for rank, osts in enumerate(records))
        rows = [row for rank, osts in enumerate(records) for row in _rows_v2(rank, osts, pool.decode() or None)]
    columns = decode_lustre(data, version, order).tables["lustre_component"]
    assert isinstance(columns, Components)
    return columns, rows


def _rows_v2(rank: int, components: list[list[int]], pool: str | None) -> list[dict[str, object]]:
    common = {"file_id": 5, "rank": rank, "fs_ost_count": None, "fs_mdt_count": None}
    if not components:
        names = ("component", "stripe_bytes", "stripe_count", *_NOT_SAID, "pool_name", "ost_ids")
        return [common | dict.fromkeys(names)]
    said = {"stripe_bytes": 1 << 20, "stripe_pattern": 1, "component_flags": 16, "extent_end_bytes": -1, "mirror_id": 3}
    common |= said | {"pool_name": pool}
    return [
        common | {"component": number, "stripe_count": len(osts), "ost_ids": osts, "extent_start_bytes": number << 20}
        for number, osts in enumerate(components)
    ]


@given(st.lists(_modules(), min_size=1, max_size=4), st.data())
def test_components_of_many_logs(modules: list[tuple[Components, list[dict[str, object]]]], data: st.DataObject) -> None:
    """One after the other, or some of them, they say what each said, whatever their versions and byte orders."""
    rows = [row for _, own in modules for row in own]
    whole = Components.stacked([columns for columns, _ in modules])
    picked = data.draw(st.lists(st.integers(0, len(rows) - 1), unique=True).map(sorted))
    for columns, expected in ((whole, rows), (whole.taken(np.array(picked, np.int64)), [rows[row] for row in picked])):
        assert {name: [row[name] for row in expected] for name in columns} == {
            name: column.to_pylist() for name, column in columns.items()
        }
        assert len(expected) == columns.row_count


@pytest.mark.parametrize(
    ("version", "bad"),
    [
        (1, words("<", 9, 0, 1, 1, 0, 1, 2**63 - 1)),
        (1, words("<", 9, 0, 1, 1, 0, 1, -1)),
        (1, words("<", 9, -2, 1, 1, 0, 1, 0)),
        (1, words("<", 9, 0, 1)),
        (2, words("<", 9, 0, 2**62, 0)),
        (2, words("<", 9, 0, 0, 2**62)),
        (2, words("<", 9, 0, -1, 0)),
        (2, words("<", 9, 0, 0, -1)),
        (2, words("<", 9, -2, 0, 0)),
        (2, lustre_v2_record("<", [[1, 2]])[:-8]),
        # The component claims one OST more than the record holds.
        (2, words("<", 9, 0, 1, 1, 1 << 20, 2, 0, 0, 0, -1, 0, 0, 0, 1)),
        (2, words("<", 9, 0, 1, 1, 1 << 20, -1, 0, 0, 0, -1, 0, 0, 0, 1)),
        (2, b"odd"),
    ],
)
def test_absurd_records(version: int, bad: bytes) -> None:
    """A record whose counts cannot be true ends the reading; the record before it stays, and the place is reported."""
    good = lustre_v1_record("<", [7]) if version == 1 else lustre_v2_record("<", [[7]])
    decoded = decode_lustre(good + bad, version, "<")
    assert (1, f"bytes from {len(good)} on are not Lustre records") == (decoded.record_count, decoded.damage)
    assert [[7]] == decoded.tables["lustre_component"]["ost_ids"].to_pylist()
    alone = decode_lustre(bad, version, "<")
    assert ({}, 0, "bytes from 0 on are not Lustre records") == (alone.tables, alone.record_count, alone.damage)
