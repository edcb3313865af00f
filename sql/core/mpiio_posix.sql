-- ---
-- about = "What the traced MPI-IO requests of one direction on a file became in POSIX; requests that move nothing are left out."
-- grain = ["log_id", "file_id", "op"]
-- reads = ["lake.mpiio_posix"]
-- ---
SELECT *
FROM lake.mpiio_posix
