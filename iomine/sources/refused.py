"""Texts that iomine does not read, but recognises, so that a reject says what they are and what to give instead."""

import re
from functools import partial
from typing import Final, NoReturn

from iomine.errors import UnreadableError
from iomine.sources.model import Input, Source

_HEAD_BYTES: Final = 1 << 16
_OF_COLLECTORS: Final = (
    "give what it was made from: of Lustre's servers lctl get_param *.*.job_stats *.*.stats *.*.md_stats, of Slurm sacct -P, "
    "of InfiniBand perfquery -x -l"
)
_LINE_PROTOCOL: Final = (
    rb"\A[\w./-]+(?:,[\w./-]+=[^\s,]+)* "
    rb'(?:[\w./-]+=(?:-?\d[\d.eE+-]*[iu]?|"[^"\n]*"|[tf]|true|false)(?:,(?=\S)|(?=\s|\Z)))+'
    rb"(?: \d{10,19})?\s*$"
)
_OF_SLURM: Final = "give sacct -P, with the columns JobIDRaw, Submit, Start and End among others"


def _looks(shape: bytes, source: Input) -> bool:
    return bool(re.search(shape, source.data[:_HEAD_BYTES], re.MULTILINE))


def _refuse(what: str, _source: Input) -> NoReturn:
    raise UnreadableError(what)


def refused(kind: str, shape: bytes, what: str) -> Source:
    """A source that refuses whatever has a shape.

    Args:
        kind: its name.
        shape: a regular expression that the beginning of a text matches, `^` at any line.
        what: what it is, and what to give instead.
    """
    return Source(kind, partial(_looks, shape), partial(_refuse, what))


# Outputs of other tools. They are tried last, since some of these shapes match many texts.
REFUSED: Final = (
    refused(
        "collectl",
        rb"^# Collectl: |^#<-+CPU-|^#Date[ ,]Time[ ,]\[|^waiting for \d+ second sample",
        f"it is of collectl; {_OF_COLLECTORS}",
    ),
    refused(
        "prometheus",
        rb"^# (?:HELP|TYPE) [a-zA-Z_:]|\A[a-zA-Z:][a-zA-Z0-9:]*(?:_\w+)(?:\{[^\n]*\})? [+-]?\d[\d.eE+-]*(?: \d+)?\s*$",
        f"it is in Prometheus's text format; {_OF_COLLECTORS}",
    ),
    refused("line_protocol", _LINE_PROTOCOL, f"it is in InfluxDB's line protocol, as Telegraf writes it; {_OF_COLLECTORS}"),
    refused(
        "telegraf_json", rb'\A\s*[\[{](?=[^\0]*"fields": ?\{)(?=[^\0]*"tags": ?\{)', f"it is Telegraf's JSON; {_OF_COLLECTORS}"
    ),
    refused("graphite", rb"\A[\w-]+(?:\.[\w:@-]+)+ -?\d[\d.eE+-]* \d{10}$", f"it is in Graphite's text format; {_OF_COLLECTORS}"),
    refused(
        "web_page", rb"\A\s*<(?:!DOCTYPE html|html)\b", "it is a web page, such as a server's answer of an error; fetch it again"
    ),
    refused(
        "sysstat",
        rb"^Linux \S+ \([^)\n]*\)\s+\d",
        "it is sar or iostat, the state of one host; iomine reads that of file systems",
    ),
    refused("mmpmon", rb"^_(?:fs_)?io_s_ |^_ns_io_s_ ", "it is mmpmon; give what mmperfmon query prints"),
    refused(
        "squeue",
        rb"^\s*JOBID[ |,]+(?:PARTITION|[A-Z_ |,()]*\b(?:NODELIST\(REASON\)|START_TIME|TIME_LEFT))",
        f"it is squeue, jobs that have not ended; {_OF_SLURM}",
    ),
    refused("sinfo", rb"^\s*(?:PARTITION +AVAIL|NODELIST +NODES) ", f"it is sinfo, the state of nodes; {_OF_SLURM}"),
    refused(
        "slurm_yaml",
        rb"\A(?:---\s*)?(?:\w+:[^\n]*\n(?:[ -][^\n]*\n)*)?jobs:\s*$",
        "it is Slurm's YAML; run the command with --json",
    ),
    refused(
        "slurm_sums",
        rb"^sdiag output at |^Usage reported in |^Cluster\|Account\|User\||^Job ID: \d+\n(?:Array Job ID: [^\n]*\n)?Cluster: ",
        f"it is of sdiag, sreport, sacctmgr or seff, and no list of jobs; {_OF_SLURM}",
    ),
    refused(
        "qstat",
        rb"^Job id +Name +User +Time Use|^Job Id: \S+\n +Job_Name = ",
        "it is qstat, jobs as they are now; give the accounting of PBS, the files of server_priv/accounting",
    ),
    refused("bjobs", rb"^JOBID +USER +STAT +QUEUE", "it is bjobs, jobs as they are now; give lsb.acct"),
    refused("qacct", rb"\A=+\nqname +\S", "it is qacct; give the file that it reads, accounting"),
)
