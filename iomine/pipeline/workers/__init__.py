"""Who does the work: processes here, a standing Dask scheduler, or jobs of Slurm."""
