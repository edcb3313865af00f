"""Copies of a warehouse for others, with names replaced."""
