"""Triggers on Lustre: 1xx layouts of files, 2xx load on OSTs."""
