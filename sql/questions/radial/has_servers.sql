-- ---
-- about = "Whether anything says which servers targets are on."
-- parts = []
-- reads = ["core.fabric_name"]
-- parameters = []
-- ---
SELECT true AS is_known FROM core.fabric_name WHERE name_kind = 'target' LIMIT 1
