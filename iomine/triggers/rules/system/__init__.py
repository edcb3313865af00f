"""Triggers on the file system around a run: 1xx its state and what others do to it."""
