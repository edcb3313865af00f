-- ---
-- about = "Traced requests of some ranks of a log that moved something: those of POSIX, or of MPI-IO where that alone was traced."
-- parts = []
-- reads = ["main.segments"]
-- # ended_seconds: by which requests have to have ended.
-- parameters = ["cluster", "night", "log_id", "first_rank", "last_rank", "ended_seconds"]
-- ---
SELECT op, rank, file_id, ost, start_seconds, end_seconds - start_seconds AS seconds, length_bytes, layer
FROM main.segments
WHERE cluster = $cluster AND night = $night AND log_id = $log_id AND rank BETWEEN $first_rank AND $last_rank
    AND layer = (
        -- In alphabetical order POSIX comes last.
        SELECT MAX(layer)
        FROM main.segments
        WHERE cluster = $cluster AND night = $night AND log_id = $log_id AND layer IN ('mpiio', 'posix')
    )
    AND length_bytes > 0 AND start_seconds >= 0 AND end_seconds >= start_seconds AND end_seconds <= $ended_seconds
