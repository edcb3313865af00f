"""Triggers on the links between nodes and servers: 1xx what was wrong with them, and how a job lay on them."""
