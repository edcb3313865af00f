"""Views: each file here is one, with its cases beside it."""
