-- ---
-- about = "What was mailed to whom and when, finding by finding, how far the mail came, and what its reader asked for since."
-- grain = ["message_id", "mail_part", "cluster", "user", "application", "code"]
-- reads = ["core.mail"]
-- ---
SELECT
    told_night, recipient, mail_kind, mail_part, "user", application, code, mail_state, answer, answer_night, sent_at, composed_at,
    last_night, mail_reply, message_id, cluster
FROM core.mail
ORDER BY composed_at DESC, message_id, mail_part, "user", application, code, cluster
