"""Triggers on POSIX calls: 10x sizes of requests, 11x order, 12x alignment, 13x repetition, 3xx metadata, 4xx amount of data."""
