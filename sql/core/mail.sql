-- ---
-- about = "What one mail of the digest told of one finding in one application, and what its reader asked for since."
-- grain = ["message_id", "mail_part", "cluster", "user", "application", "code"]
-- reads = ["lake.mail"]
-- ---
SELECT *
FROM lake.mail
