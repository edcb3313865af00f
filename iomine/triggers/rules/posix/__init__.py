"""Triggers on POSIX calls: 10x sizes, 11x order, 12x alignment, 13x repetition, 14x syncs, 3xx metadata, 4xx amount of data."""
