"""Triggers: each file here is one, named as its code."""
