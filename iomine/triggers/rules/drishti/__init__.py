"""Drishti 0.8's checks: S STDIO, P POSIX, M MPI-IO; the same codes, thresholds and verdicts, its oddities included."""
