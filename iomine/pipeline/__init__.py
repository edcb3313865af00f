"""A sweep, in units of work: found, identified, read, judged, committed, published. Callable without Prefect."""
