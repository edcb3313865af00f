"""Scripts of IOR lines: one replays a log's phase classes, one those of which the work of a whole machine consists."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from iomine.units import counted, human_bytes, visible

# Options that a write before a read does without, and of these the ones with a value.
_OF_READS: Final = frozenset(("-C", "-Q", "-d", "-i", "-r", "-z"))
_WITH_VALUE: Final = frozenset(("-Q", "-d", "-i"))
# A rate that IOR's summary does not have makes the sum unknown, not smaller.
_WEIGH: Final = r"""mkdir -p "$IOR_DIR"
: > "$IOR_DIR/workload.txt"
# weigh CLASS BYTES CORE_SECONDS RANKS: what the programs' bytes take at the rate that IOR has just had.
weigh() {
  local rate
  rate=$(sed -n 's/.*"bwMeanMIB": *\([0-9.]*\).*/\1/p' "$IOR_DIR/class-$1.json")
  awk -v class="$1" -v bytes="$2" -v core_seconds="$3" -v ranks="$4" -v rate="${rate:-0}" 'BEGIN {
    seconds = rate > 0 ? sprintf("%.3f", bytes / 1048576 / rate) : "unknown"
    print class, bytes, core_seconds, ranks, rate, seconds
  }' | tee -a "$IOR_DIR/workload.txt"
}
sum_up() {
  awk '$6 == "unknown" { unknown++ } { bytes += $2; before += $3; seconds += $6; core_seconds += $6 * $4 } END {
    if (unknown) print "The workload takes unknown: " unknown " classes have no rate."
    else printf "The workload takes %.1f s for %.0f bytes, and %.1f core-seconds where programs took %.1f.\n", seconds, bytes,
      core_seconds, before
  }' "$IOR_DIR/workload.txt"
}""".splitlines()


def replay_line(row: Mapping[str, Any]) -> str | None:
    """The command that replays a class, without its files; None where IOR cannot.

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
    about = (
        f"Replays the I/O of log {visible(log_id)} with IOR: phase classes that move at least 1% of its bytes.",
        "Each line leaves its summary as JSON in IOR_DIR, which `iomine sweep --stats` reads.",
    )
    return _script(about, ([*_class(row)] for row in rows if row["is_relevant"]))


def workload_script(rows: Iterable[Mapping[str, Any]]) -> str:
    """A Bash script that runs a line for each class of a machine's workload, and adds up the times of all that they stand for.

    Args:
        rows: the classes with their weights, as the question `cli/workload` has them, and each with the columns of its log's
            class that the question `cli/model` adds.
    """
    about = (
        "Runs with IOR what the programs of a machine do most. Each line stands for all phase classes like it.",
        "What they moved, by the rate of the line, is the time that the same takes on the file system of IOR_DIR: one after",
        "the other. IOR_DIR/workload.txt keeps each: class, bytes, core-seconds, ranks, MiB/s, seconds.",
        "Each line leaves its summary as JSON in IOR_DIR, which `iomine sweep --stats` reads.",
    )
    return _script(about, [_WEIGH, *(_weighed(row) for row in rows), ["sum_up"]])


def _script(about: Iterable[str], parts: Iterable[Iterable[str]]) -> str:
    lines = [
        "#!/usr/bin/env bash",
        *(f"# {line}" for line in about),
        "set -euo pipefail",
        ': "${IOR_DIR:?Set IOR_DIR to a folder on the file system to measure.}"',
    ]
    for part in parts:
        lines += ["", *part]
    return "\n".join(lines) + "\n"


def _weighed(row: Mapping[str, Any]) -> Iterator[str]:
    number, seconds, app = row["workload_class"], row["request_core_seconds"], row["app"] or "a program without a name"
    yield f"# Weight: {weight_text(row)}, in {counted(row['log_count'], 'log')}; {row['class_words']}."
    yield f"# As class {row['phase_class']} of log {visible(row['log_id'])} of {visible(app)}."
    yield from _class({**row, "phase_class": number})
    yield f"weigh {number} {row['moved_bytes'] or 0} {seconds or 0:.6f} {row['rank_count']}"


def weight_text(row: Mapping[str, Any]) -> str:
    """What a class of a machine's workload weighs: its share in bytes and in time, and both."""
    weights = (
        (row["workload_bytes_ratio"], "bytes", human_bytes(row["moved_bytes"] or 0)),
        (row["workload_seconds_ratio"], "core-seconds", f"{row['request_core_seconds'] or 0:,.1f}"),
    )
    return ", ".join(f"{ratio or 0:.1%} of the {what} ({total})" for ratio, what, total in weights)


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
