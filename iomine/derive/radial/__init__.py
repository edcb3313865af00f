"""Who moves bytes for whom and to where: edges of a traced run, from ranks over carriers to places.

`carriers` matches requests of MPI-IO with those of POSIX that moved their bytes, `clocks` corrects times before that, `moves`
has each request with both of its ends, and `cube` and `nodes` count them. `iomine.derive.links` gives the tables.
"""
