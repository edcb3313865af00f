"""Triggers on how ranks share the I/O: 1xx time, 2xx bytes, 3xx what rank 0 does for all."""
