"""What the digest has mailed, copied from its ledger."""

from iomine.schema.table import Table

MAIL = Table(
    "mail",
    "One finding in one application that a mail of the digest listed, and what its reader asked for since.",
    (
        *("message_id", "mail_kind", "recipient", "mail_state", "mail_reply", "last_night", "composed_at", "sent_at"),
        *("told_night", "mail_part", "cluster", "user", "application", "code", "answer", "answer_night"),
    ),
    partitioned=False,
    grain=("message_id", "mail_part", "cluster", "user", "application", "code"),
)
