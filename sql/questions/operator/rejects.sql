-- ---
-- about = "Why inputs were rejected since a day, the commonest reason first."
-- parts = []
-- reads = ["main.rejects"]
-- parameters = ["first_day"]
-- ---
SELECT reason, stage, count(*) AS file_count, count(*) OVER () AS reason_count
FROM main.rejects
WHERE ("at" AT TIME ZONE 'UTC')::DATE >= $first_day
GROUP BY reason, stage
ORDER BY file_count DESC, reason, stage
