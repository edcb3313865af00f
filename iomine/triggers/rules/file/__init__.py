"""Triggers on files: 1xx their number and size, 2xx time."""
