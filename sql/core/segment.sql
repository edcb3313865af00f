-- ---
-- about = "One traced read or write."
-- grain = []
-- reads = ["lake.segment"]
-- ---
SELECT
    * REPLACE (
        -- The first format of MPI-IO traces has no offsets and holds -1 for them.
        CASE WHEN offset_bytes >= 0 THEN offset_bytes END AS offset_bytes
    )
FROM lake.segment
