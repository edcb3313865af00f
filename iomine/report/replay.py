"""A script of IOR lines that replays a log's phase classes."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from iomine.units import visible

# Options that a write before a read does without, and of these the ones with a value.
_OF_READS: Final = frozenset(("-C", "-Q", "-d", "-i", "-r", "-z"))
_WITH_VALUE: Final = frozenset(("-Q", "-d", "-i"))


def replay_line(row: Mapping[str, Any]) -> str | None:
    """The command that replays a class, but for its files; None where IOR cannot.

    Args:
        row: of `phase_class`.
    """
    return row["ior_options"] and f"mpiexec -n {row['rank_count']} ior {row['ior_options']}"


def replay_script(log_id: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """A Bash script that runs the lines of a log's classes one after the other, and writes below `$IOR_DIR` only.

    Args:
        log_id: the log.
        rows: its classes, as the question `cli/model` has them.
    """
    lines = [
        "#!/usr/bin/env bash",
        f"# Replays the I/O of log {visible(log_id)} with IOR: phase classes that move at least 1 % of its bytes.",
        "# Each line leaves its summary as JSON in IOR_DIR, which `iomine sweep --stats` reads.",
        "set -euo pipefail",
        ': "${IOR_DIR:?Set IOR_DIR to a folder on the file system to measure.}"',
    ]
    for row in rows:
        if row["is_relevant"]:
            lines += ["", *_class(row)]
    return "\n".join(lines) + "\n"


def _class(row: Mapping[str, Any]) -> Iterator[str]:
    name = f"class-{row['phase_class']}"
    yield f"# Class {row['phase_class']}: {row['op']}s of {visible(row['largest_path'] or 'files without a name')}."
    if (line := replay_line(row)) is None:
        yield f"# No line: {visible(row['replay_reason'])}"
        return
    reason = f" ({visible(row['replay_reason'])})" if row["replay_reason"] else ""
    yield f"# Replay: {row['replay_fidelity']}{reason}."
    yield f'mkdir -p "$IOR_DIR/{name}"'
    if row["stripe_count"]:
        yield f'lfs setstripe -c {row["stripe_count"]} -S {row["stripe_bytes"]} "$IOR_DIR/{name}"'
    files = f'-k -o "$IOR_DIR/{name}/data"'
    if row["op"] == "read":
        yield "# What is read has to be written first."
        yield f"mpiexec -n {row['rank_count']} ior {_written_first(row['ior_options'])} {files}"
    yield f'{line} {files} -O summaryFormat=JSON,summaryFile="$IOR_DIR/{name}.json"'
    yield f'rm -r "$IOR_DIR/{name}"'


def _written_first(options: str) -> str:
    words = iter(shlex.split(options))
    kept = []
    for word in words:
        if word in _WITH_VALUE:
            next(words)
        elif word not in _OF_READS:
            kept.append(word)
    return shlex.join([*kept, "-w"])
