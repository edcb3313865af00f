-- ---
-- about = "Counters of an Aries router that a run used."
-- grain = ["log_id", "group_index", "chassis_index", "blade_index", "node_index"]
-- reads = ["lake.apxc_router"]
-- ---
SELECT *
FROM lake.apxc_router
