-- ---
-- about = "Mails by how far they came."
-- parts = []
-- reads = ["main.mails"]
-- parameters = []
-- ---
SELECT mail_state, count(DISTINCT message_id) AS mail_count
FROM main.mails
GROUP BY mail_state
ORDER BY mail_state
