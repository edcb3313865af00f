"""Prefect flows: wiring, retries and artifacts around the pipeline; no arithmetic.

In a checkout they lie in `flows/` at the top; a wheel has that folder in the place of this one.
"""

from pathlib import Path

__path__ = [str(Path(__file__).parents[2] / "flows")]
