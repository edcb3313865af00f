"""What the digest mailed to whom, and what its readers asked for."""

from iomine.schema.fields.kinds import Kind, Privacy, defined

MAILS = {
    **defined(
        Kind.TEXT,
        Privacy.OPEN,
        mail_kind="Recipient of a mail of the digest: user, project (its lead), operator, or notice (operators, as it arises).",
        mail_state=(
            "How far a mail has come: pending, sending (a server may have it), deferred (to be tried again), sent, or failed "
            "for good."
        ),
        mail_part=(
            "How a mail lists a finding: as an entry, as a sign of the same under an entry, or as better; empty for operators."
        ),
        answer="What the reader asked for since: acknowledge (never mail it again), snooze (mail it later), or stop (no mails).",
    ),
    **defined(
        Kind.TEXT,
        Privacy.NAME,
        recipient="User or account that a mail is about; empty to operators.",
        message_id="Id of a mail, as its header says it.",
    ),
    **defined(Kind.TEXT, Privacy.WORD, mail_reply="What the mail server said last, or why no mail left."),
    **defined(
        Kind.TIME,
        composed_at="When a mail was written.",
        sent_at="When a mail server, or the outbox, took the mail; empty where none has.",
    ),
    **defined(
        Kind.DATE,
        told_night="UTC date on which a mail that lists a finding was sent, for an outcome the first; empty if none was.",
        answer_night="UTC date on which the reader gave the answer.",
    ),
}
