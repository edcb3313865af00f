"""Triggers on phases of I/O: 1xx their number and the ranks in them."""
