"""From paths to staged Parquet: what is found, what it is, and its rows."""
