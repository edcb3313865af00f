"""Finds, orders and loads the views under `sql/`, and answers queries; the only room with DuckDB."""
