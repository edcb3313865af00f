"""Triggers on stdio: 1xx data that goes through it."""
