"""Prefect flows: wiring, retries and artifacts around the pipeline; no arithmetic.

In a checkout they are in `flows/` at the top; in a wheel that folder replaces this one.
"""

from pathlib import Path

__path__ = [str(Path(__file__).parents[2] / "flows")]
