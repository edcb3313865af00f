-- ---
-- about = "Servers of the OSTs of logs, as lctl dl -t had them last: the host, or the network id where no host is known for it."
-- parts = []
-- reads = ["core.log_target", "core.fabric_name"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH newest AS (
    SELECT name_kind, name, alias
    FROM core.fabric_name
    WHERE cluster = $cluster AND name_kind IN ('target', 'address')
    QUALIFY sampled_at = MAX(sampled_at) OVER (PARTITION BY name_kind, name)
),
host AS (SELECT name AS address, MIN(alias) AS host FROM newest WHERE name_kind = 'address' GROUP BY name),
server AS (
    SELECT name AS target, MIN(COALESCE(host, alias)) AS server
    FROM newest
    LEFT JOIN host ON address = split_part(alias, '@', 1)
    WHERE name_kind = 'target'
    GROUP BY name
    -- A target that clients see on several servers is on none for certain.
    HAVING COUNT(DISTINCT COALESCE(host, alias)) = 1
)
SELECT DISTINCT log_id, TRY_CAST('0x' || regexp_extract(target, '-OST([0-9a-fA-F]+)$', 1) AS BIGINT) AS ost_id, server
FROM core.log_target
JOIN server USING (target)
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
    AND target_evidence = 'ost_io'
ORDER BY log_id, ost_id
