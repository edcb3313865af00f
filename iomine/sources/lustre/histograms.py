"""`brw_stats` of targets and `rpc_stats` of clients: sections of buckets, reads on the left of a bar and writes on its right.

                               read      |     write
    disk I/O size          ios   % cum % |  ios         % cum %
    4K:                    120  73  73   |   30  40  40

The label of a bucket is the most that falls into it, in powers of two, or what was counted itself; of `offset` it is the least.
"""

from typing import Final

import pyarrow as pa

from iomine.sources.lustre.lines import DIGITS, LETTERS, Text, last_before, numbers
from iomine.sources.lustre.moments import Moments
from iomine.sources.lustre.parameters import HISTOGRAMS
from iomine.sources.lustre.parts import Parts
from iomine.sources.lustre.tables import HISTOGRAM, about, buckets, labels, table_of

_HEADING: Final = r"^(?P<histogram>[ -~]*?[!-~]) +(?P<unit>[a-z]+) +% cum %"
_SHARES: Final = r"\s+[0-9]+\s+[0-9]+"
_BUCKET: Final = (
    rf"^(?P<bucket>[0-9]{{1,18}})(?P<scale>[KMGTPE]?):\s+(?P<reads>[0-9]{{1,18}}){_SHARES}\s+\|"
    rf"\s+(?P<writes>[0-9]{{1,18}}){_SHARES}\s*$"
)
# Devices of metadata clients count modifying RPCs, which are neither reads nor writes.
_SINGLE: Final = rf"^(?P<bucket>[0-9]+[KMGTPE]?:\s+[0-9]+){_SHARES}\s*$"
_BETWEEN: Final = r"^\s+(read|modify)\b|^[A-Za-z]+[ _]RPCs[ _]in[ _]flight: |^pending [a-z]+ pages: "


def read_histograms(text: Text, parts: Parts, moments: Moments) -> tuple[pa.Table, int]:
    """Buckets of histograms, and how many were left out that are neither of reads nor of writes.

    Args:
        text: the text.
        parts: its parameters.
        moments: when they were read.
    """
    where = parts.lines(HISTOGRAMS)
    text.skip(b" \t" + LETTERS, _BETWEEN, where)
    headings = text.find(LETTERS, _HEADING, where)
    found = text.find(DIGITS, _BUCKET, where)
    heading = last_before(found.at, headings.at, parts.of)
    text.is_known[found.at[heading < 0]] = False
    found, heading = found.where(heading >= 0), heading[heading >= 0]
    columns = {
        "sampled_at": moments.read_at(found.at, parts.of),
        "histogram": labels(headings.words["histogram"]).take(pa.array(heading)),
        "counter_unit": labels(headings.words["unit"]).take(pa.array(heading)),
        "bucket": buckets(found.words["bucket"], found.words["scale"]),
        "read_count": numbers(found.words["reads"], pa.int64()),
        "write_count": numbers(found.words["writes"], pa.int64()),
    }
    table = table_of(HISTOGRAM, about(parts.parameters, parts.of[found.at]) | columns)
    return table, len(text.find(DIGITS, _SINGLE, where).at)
