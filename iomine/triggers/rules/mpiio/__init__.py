"""Triggers on MPI-IO: 10x independent requests, 12x alignment, 2xx overlap with computing, 3xx bytes beneath it, 4xx waiting."""
