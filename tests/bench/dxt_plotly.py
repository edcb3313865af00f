"""A page of requests as DXT Explorer makes them, with plotly; runs in an environment that has plotly.

    python tests/bench/dxt_plotly.py REQUESTS.npz PAGE.html

DXT Explorer (explorer/plots/operation.py) draws each request as a point at its start with an error bar as long as it lasts, by
rank, coloured by operation. Its pages take plotly from the network; this one holds it, so that it opens here too.
"""

import sys

import numpy as np
import plotly.graph_objects as go

_READY = "document.body.dataset.ready = performance.now();"


def main(requests: str, page: str) -> None:
    """Writes the page."""
    columns = np.load(requests)
    figure = go.Figure()
    for number, op in enumerate(("read", "write")):
        of_op = columns["op"] == number
        figure.add_trace(
            go.Scattergl(
                x=columns["start_seconds"][of_op],
                y=columns["rank"][of_op],
                error_x={"type": "data", "array": columns["seconds"][of_op], "arrayminus": np.zeros(of_op.sum())},
                mode="markers",
                name=op,
                customdata=np.column_stack(
                    [columns[name][of_op] for name in ("rank", "seconds", "length_bytes", "offset_bytes")]
                ),
            )
        )
    figure.write_html(page, include_plotlyjs=True, post_script=_READY)


if __name__ == "__main__":
    main(*sys.argv[1:])
