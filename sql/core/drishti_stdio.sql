-- ---
-- about = "The share of stdio in the bytes that one log moved, as Drishti adds them up: POSIX, STDIO and MPI-IO alone."
-- grain = ["log_id"]
-- reads = ["lake.drishti_stdio"]
-- ---
SELECT *
FROM lake.drishti_stdio
