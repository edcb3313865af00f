"""Upgrades an older warehouse: its logs are read again, or rebuilt from the rows that are kept of them."""
