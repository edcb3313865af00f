"""Triggers on Lustre: 1xx layouts of files, 2xx load on OSTs, 3xx ranks and requests that meet in stripes."""
