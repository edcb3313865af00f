"""The fabric's picture as the server gives it, and as files."""

import datetime as dt
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from fabrics import CAPACITY, NIGHT, Fabric, fat_tree, hostile, jobs_of, publish, slots_of
from page_blocks import text_unpacked
from web_server import LIMITS, Reply, ask_server, served

from iomine.derive.fabric_night import values_of
from iomine.web.fabric import fabric_night_of
from iomine.web.sessions import Session
from iomine.web.site import write_site
from iomine.web.window import window_of

AT = f"cluster=blue&night={NIGHT}"


def block(script: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a part says, read as the page reads it."""
    match = re.fullmatch(rb'\(globalThis\.iomineBlocks\?\?=\{\}\)\["[a-z0-9-]+"\]="([A-Za-z0-9+/=]+)";', script)
    assert match
    return text_unpacked(match[1])


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    """A fat tree with parallel links."""
    return fat_tree(4, 2, 6, parallel=2)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory, fabric: Fabric) -> Path:
    """A warehouse with it, and three jobs."""
    return publish(tmp_path_factory.mktemp("fabric"), fabric, jobs=3, nodes=4).parent


@pytest.fixture(scope="module")
def address(warehouse: Path) -> Iterator[str]:
    """A server of the warehouse."""
    with served(warehouse) as place:
        yield place


def first(address: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    return block(ask_server(address, f"/fabric/fabric.js?{AT}").body)


def test_page_names_its_parts_and_lets_only_scripts_of_its_own_run(address: str) -> None:
    """The page says which night it shows; its policy admits scripts of the server and nothing inline."""
    reply = ask_server(address, "/fabric")
    assert 200 == reply.status
    assert f"Night {NIGHT}" in reply.text
    assert f'src="fabric/fabric.js?{AT.replace("&", "&amp;")}"' in reply.text
    for policy in (
        reply.headers["content-security-policy"],
        re.findall('Content-Security-Policy" content="([^"]*)', reply.text)[0],
    ):
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
    script = re.findall(r'src="(assets/fabric-[0-9a-f]{12}\.js)"', reply.text)[0]
    assert 200 == ask_server(address, f"/{script}").status
    assert 'href="fabric"' in ask_server(address, "/").text


def test_first_part_has_each_device_and_link_once(address: str, fabric: Fabric) -> None:
    """Devices and links are those of the reading, with ends, ports and places; hosts know their switch."""
    about, arrays = first(address)
    assert sorted(row["guid"] for row in fabric.nodes) == about["guids"]
    ends = [(about["guids"][end], port) for end, port in zip(arrays["end"], arrays["port"].tolist(), strict=True)]
    assert sorted((row["guid"], row["port"]) for row in fabric.links) == ends
    for number, guid in enumerate(about["guids"]):
        row = next(row for row in fabric.nodes if row["guid"] == guid)
        parent = arrays["parent"][number]
        assert (parent >= 0) == (row["node_kind"] == "host")
        near = {
            end for link in fabric.links if guid in {link["guid"], link["peer_guid"]} for end in (link["guid"], link["peer_guid"])
        }
        assert parent < 0 or about["guids"][parent] in near


def test_numbers_are_those_of_the_tables(address: str, fabric: Fabric) -> None:
    """Utilisation of the night and of ten minutes, of each directed link, is what the slots say."""
    slots, _ = slots_of(fabric)
    used = slots["utilisation_ratio"].to_numpy().reshape(-1, 144)
    order = {(guid, port): row for row, (_, guid, port) in enumerate(fabric.directed)}
    about, arrays = first(address)
    peers = zip(arrays["end"], arrays["port"], arrays["peer"], arrays["peer_port"], strict=True)
    senders = [end for one, port, other, peer in peers for end in ((about["guids"][one], port), (about["guids"][other], peer))]
    rows = [order[end] for end in senders]
    assert used[rows].mean(axis=1) == pytest.approx(values_of(arrays["night_utilisation"]), rel=6e-3)
    assert used[rows].max(axis=1) == pytest.approx(values_of(arrays["night_peak"]), rel=6e-3)
    series = values_of(arrays["series_utilisation"]).reshape(-1, 144)
    assert used[rows][arrays["hot"]] == pytest.approx(series, rel=6e-3)
    _, slot = block(ask_server(address, f"/fabric/slot-17.js?{AT}").body)
    assert used[rows, 17] == pytest.approx(values_of(slot["utilisation"]), rel=6e-3)


def test_job_has_its_links_nodes_and_servers(address: str, fabric: Fabric) -> None:
    """The part of a job has the bytes of each directed link, and says which are at its nodes and at servers."""
    about, arrays = first(address)
    slots, _ = slots_of(fabric)
    rows = [row for row in jobs_of(fabric, slots, 3, 4)["job_link"] if row["job_id"] == "job 1"]
    key = next(key for key, name, *_ in about["jobs"] if name == "job 1")
    _, job = block(ask_server(address, f"/fabric/job-{key}.js?{AT}").body)
    assert sum(row["moved_bytes"] for row in rows) == pytest.approx(float(job["write"].sum()))
    assert 0 == job["read"].sum()
    hosts = {row["guid"] for row in rows if row["is_host_link"]}
    ends = np.stack([arrays["end"], arrays["peer"]], axis=1).ravel()
    assert hosts == {about["guids"][ends[link]] for link in job["link"][job["is_host"] == 1]}
    sharing = set(arrays["sharer_link"].tolist())
    assert sharing <= set(arrays["hot"].tolist())


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/fabric?cluster=green", 404, "No fabric is known of a machine"),
        ("/fabric?night=soon", 400, "is not a date"),
        ("/fabric?colour=red", 400, "There is no parameter"),
        (f"/fabric/slot-144.js?{AT}", 404, "has no part"),
        (f"/fabric/job-0.js?{AT}", 404, "has no part"),
        (f"/fabric/slot-%C2%B2.js?{AT}", 404, "has no part"),
    ],
)
def test_what_is_not_there_is_said(address: str, path: str, status: int, said: str) -> None:
    """A wrong machine, night, parameter or part is a sentence."""
    reply = ask_server(address, path)
    assert status == reply.status
    assert said in reply.text


def test_night_without_counters_shows_the_fabric(address: str) -> None:
    """A night of which nothing is known has devices and links, and no number."""
    about, arrays = block(ask_server(address, "/fabric/fabric.js?cluster=blue&night=2026-11-19").body)
    assert about["guids"]
    assert 0 == arrays["night_utilisation"].sum() == len(arrays["hot"])


def hour_of(port: int, hour: int, congested: int, peak: float | None, **more: Any) -> dict[str, Any]:
    """A directed link in an hour."""
    row = {"begin_at": dt.datetime.combine(NIGHT, dt.time(hour), dt.UTC), "link_id": f"a/{port}", "guid": "a", "port": port}
    row |= {"device": "leaf<1>", "peer_device": "spine0", "peer_port": 7, "congested_slot_count": congested}
    return row | {"peak_utilisation_ratio": peak, "faulty_slot_count": 0, **more}


def test_page_begins_with_the_worst_link_of_the_night(tmp_path: Path) -> None:
    """It is the first of link_hotspots, with who filled it, and leads to its hour; where none is congested, the fullest."""
    filled = {"user": "<ada>", "job_id": "4711", "link_user_ratio": 0.53, "trouble": "85% full"}
    hours = [hour_of(1, 3, 1, 0.99), hour_of(2, 18, 2, 0.85, **filled), hour_of(3, 4, 0, 0.6, faulty_slot_count=1)]
    catalog = publish(tmp_path / "ill", fat_tree(2, 1, 2), hours=hours)
    session = Session(catalog, LIMITS)
    first = session.ask("SELECT port, begin_at FROM link_hotspots LIMIT 1", []).to_pylist()[0]
    session.close()
    assert 2 == first["port"]
    with served(catalog.parent) as place:
        text = ask_server(place, "/fabric").text
    assert (
        f"Night {NIGHT}: 2 links congested. Worst: leaf&lt;1&gt; port 2 to spine0 port 7, for 20 minutes of the hour from "
        "18:00 UTC (85% full). &lt;ada&gt; (job 4711) moved 53% of its bytes. 1 link faulty: "
        "leaf&lt;1&gt; port 3 to spine0 port 7."
    ) in re.sub("</?bdi[^>]*>", "", text)
    assert f'href="#time={first["begin_at"]:%H:%M}&amp;minutes=60"' in text
    catalog = publish(tmp_path / "well", fat_tree(2, 1, 2), hours=[hour_of(1, 3, 0, 0.4), hour_of(2, 5, 0, 0.6)])
    with served(catalog.parent) as place:
        text = ask_server(place, "/fabric").text
    assert (
        "no link congested. Fullest: leaf&lt;1&gt; port 2 to spine0 port 7, 60% of its capacity in ten minutes of the hour"
        in text
    )
    # Unknown is never clear: of these hours only what jobs moved is known.
    unread = hour_of(1, 3, 0, None, user="ada", link_user_ratio=1.0)
    catalog = publish(tmp_path / "unread", fat_tree(2, 1, 2), hours=[unread])
    with served(catalog.parent) as place:
        text = ask_server(place, "/fabric").text
    assert f"Night {NIGHT}: its ports were not read, so whether links were congested is not known.</p>" in text


def test_newest_night_with_readings_is_shown_first() -> None:
    """Logs of the last hours may be of a night whose ports were not read yet; without any reading it is the newest."""
    nights = [dt.date(2026, 11, day) for day in (20, 19, 18)]
    for is_counted, shown in (([False, True, True], nights[1]), ([False] * 3, nights[0])):
        rows = pa.table({"cluster": ["x"] * 3, "night": nights, "is_counted": is_counted})
        of = fabric_night_of(lambda *_, rows=rows: rows, [])
        assert (shown, tuple(nights)) == (of.night, of.nights)


def test_no_fabric_is_one_sentence(empty_catalog: Path) -> None:
    """Without a fabric the page says what to give."""
    with served(empty_catalog.parent) as place:
        text = ask_server(place, "/fabric").text
        assert "No fabric is known: give the output of" in text
        assert "assets/fabric-" not in text


def test_fabric_without_counters(tmp_path: Path) -> None:
    """Where only the topology is known, the page says so and draws it."""
    publish(tmp_path, fat_tree(2, 1, 2), with_night=False)
    with served(tmp_path) as place:
        assert "Nothing is known of what its links did" in ask_server(place, "/fabric").text
        about, _ = block(ask_server(place, "/fabric/fabric.js?cluster=blue").body)
        assert 7 == len(about["guids"])
        assert about["night"] is None


def test_hostile_names_stay_short_and_are_data(tmp_path: Path) -> None:
    """Names of 4 KB are cut, signs that cannot be seen are escaped, and no name leaves its block."""
    publish(tmp_path, hostile())
    with served(tmp_path) as place:
        reply: Reply = ask_server(place, f"/fabric/fabric.js?{AT}")
    about, arrays = block(reply.body)
    assert 100 > max(map(len, about["names"] + about["descriptions"]))
    assert all(name.isprintable() for name in about["names"])
    assert any("<script>" in name for name in about["names"])
    # A switch that is linked to itself, and one of unknown tier.
    assert (arrays["end"] == arrays["peer"]).any()
    assert 255 in arrays["tier"]
    assert 0 in arrays["is_up"]


def test_newer_reading_replaces_the_older_of_the_same_fabric(tmp_path: Path) -> None:
    """A device that a later reading of its fabric does not have is gone; another fabric, read earlier, stays."""
    old, other, new = fat_tree(2, 1, 2), fat_tree(1, 1, 1, first=3000), fat_tree(2, 1, 1)
    for made, hours in ((other, -1), (new, 1)):
        for row in made.nodes + made.links:
            row["sampled_at"] += dt.timedelta(hours=hours)
    both = Fabric(old.nodes + other.nodes + new.nodes, old.links + other.links + new.links)
    publish(tmp_path, both, with_night=False)
    with served(tmp_path) as place:
        about, arrays = block(ask_server(place, "/fabric/fabric.js?cluster=blue").body)
    assert sorted({row["guid"] for row in new.nodes + other.nodes}) == about["guids"]
    # Each reading has a picture of its own: they stand side by side.
    is_new = np.isin(about["guids"], [row["guid"] for row in new.nodes])
    left, right = arrays["x"][~is_new], arrays["x"][is_new]
    assert left.max() < right.min()


def test_site_has_the_same(warehouse: Path, address: str, tmp_path: Path) -> None:
    """The site's page and parts hold what the server gives, and the dashboard leads to the page."""
    session = Session(warehouse / "iomine.duckdb", LIMITS)
    write_site(session, window_of(session, []), tmp_path / "site", tmp_path / "none", only_window=False)
    session.close()
    page = (tmp_path / "site" / "fabric.html").read_text()
    assert 'href="fabric.html"' in (tmp_path / "site" / "index.html").read_text()
    part = re.findall(r'src="(tables-[0-9a-f]+/fabric-0/)fabric\.js"', page)[0]
    folder = tmp_path / "site" / part
    assert ask_server(address, f"/fabric/fabric.js?{AT}").body == (folder / "fabric.js").read_bytes()
    assert 144 == len(list(folder.glob("slot-*.js")))
    assert 3 == len(list(folder.glob("job-*.js")))
    assert (tmp_path / "site" / re.findall(r'src="(assets/fabric-[0-9a-f]+\.js)"', page)[0]).exists()


def test_capacity_is_of_one_direction(address: str) -> None:
    """Capacities are bytes in a second, as the link has them."""
    assert {np.float32(CAPACITY)} == set(first(address)[1]["capacity"])
