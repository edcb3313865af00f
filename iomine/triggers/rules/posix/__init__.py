"""Triggers on POSIX calls: 1xx sizes of requests, 3xx metadata."""
