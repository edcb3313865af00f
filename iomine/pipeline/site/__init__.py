"""What a site sets in files of its warehouse, for sweeps."""
