-- ---
-- about = "What one log met with on the fabric: the links that it depended on, what was wrong with them, and who else was there."
-- grain = ["log_id"]
-- reads = ["core.log", "core.log_fabric"]
-- ---
SELECT
    log.log_id, log.cluster, log.night, fabric.log_id IS NOT NULL AND fabric_gap IS NULL AS is_complete,
    CASE
        WHEN faulty_slot_ratio >= 0.5 THEN 'faulty'
        -- A job that fills a link alone is itself the cause.
        WHEN congested_slot_ratio >= 0.5 AND COALESCE(congested_own_ratio, 0) < 0.75 THEN 'congested'
        WHEN fabric.log_id IS NULL OR fabric_gap IS NOT NULL THEN 'unclear'
        ELSE 'fair'
    END AS fabric_verdict,
    CASE fabric_verdict
        WHEN 'faulty' THEN format(
            'The link {} carried {:.0f}% of its bytes{}, and was faulty in {:.0f}% of the ten-minute slots in which it did I/O: {}.{}',
            faulty_link, 100 * COALESCE(faulty_bytes_ratio, 0),
            CASE WHEN faulty_straggler_ratio >= 0.999999 THEN ' and all of those of its slow ranks' ELSE '' END,
            100 * faulty_slot_ratio, faulty_trouble, COALESCE(' Also on it: ' || fabric.faulty_others || '.', '')
        )
        WHEN 'congested' THEN format(
            'The link {} carried {:.0f}% of its bytes, and was congested in {:.0f}% of the ten-minute slots in which it did I/O: {}.{}',
            congested_link, 100 * COALESCE(congested_bytes_ratio, 0), 100 * congested_slot_ratio, congested_trouble,
            COALESCE(' Also on it: ' || fabric.congested_others || '.', ' What else was on it is no I/O of a log that is known.')
        )
        WHEN 'fair' THEN CASE
            WHEN congested_slot_ratio >= 0.5
                THEN format('It filled the link {} itself for the most part, and no link that it depended on was faulty.', congested_link)
            ELSE 'The links that it depended on were neither faulty nor congested in half of its I/O.'
        END
        ELSE COALESCE(fabric_gap, 'The fabric was not read.')
    END AS fabric_rule,
    io_slot_count, heavy_link_count, faulty_link, faulty_slot_ratio, faulty_bytes_ratio, faulty_trouble,
    CASE WHEN faulty_link IS NOT NULL THEN COALESCE(fabric.faulty_others, 'no other log that is known') END AS faulty_others,
    congested_link, congested_slot_ratio, congested_bytes_ratio, congested_own_ratio,
    CASE WHEN congested_slot_ratio = 0 THEN 0 ELSE 1 - congested_own_ratio END AS congested_others_ratio, congested_trouble,
    CASE WHEN congested_link IS NOT NULL THEN COALESCE(fabric.congested_others, 'no other log that is known') END AS congested_others,
    collision_link,
    collision_slot_ratio, collision_other_ratio, host_link_count, leaf_switch_count, scatter_ratio, same_switch_ratio, tier_count
FROM (SELECT cluster, night, log_id FROM core.log) AS log
LEFT JOIN core.log_fabric AS fabric USING (cluster, night, log_id)
