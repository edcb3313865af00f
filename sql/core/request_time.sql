-- ---
-- about = "The time of a log's reads of a file, or its writes, that went into requests that are small, go backwards, are misaligned or move bytes again."
-- grain = ["log_id", "layer", "file_id", "op"]
-- reads = ["main.file_requests"]
-- ---
SELECT
    * REPLACE (COALESCE(again_rank_bytes, again_bytes) AS again_bytes),
    -- Darshan times all requests of a file together, so some of them get their share.
    request_seconds * small_count / NULLIF(request_count, 0) AS small_seconds,
    request_seconds * backward_count / NULLIF(request_count, 0) AS backward_seconds,
    request_seconds * misaligned_count / NULLIF(request_count, 0) AS misaligned_seconds,
    request_seconds * COALESCE(again_rank_bytes, again_bytes)
        / NULLIF(CASE WHEN op = 'read' AND moved_bytes < asked_bytes THEN moved_bytes ELSE asked_bytes END, 0) AS again_seconds
FROM main.file_requests
