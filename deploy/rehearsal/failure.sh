# The folders of logs are gone: the night fails with a sentence, and the unit for that writes a mail.
# shellcheck shell=bash
mv "$SITE/logs" "$SITE/unmounted"
if as_iomine iomine nightly; then fail "a night without folders was a success"; fi
mv "$SITE/unmounted" "$SITE/logs"
mails=$(find "$SITE/maildir" -type f | wc -l)
IOMINE_FAILED_SMTP=127.0.0.1:$PORT "$SITE/opt/bin/python" "$SITE/opt/share/iomine-failed" iomine-nightly.service
[ "$(find "$SITE/maildir" -type f | wc -l)" = $((mails + 1)) ] || fail "no mail says so"
grep -rh '^Subject: .*failed' "$SITE/maildir" | sed 's/^/     /'
