"""Prefect flows: wiring, retries and artifacts around the pipeline; no arithmetic."""
