# The morning after: mails, figures for Prometheus, what a page shows, and that all is sound.
# shellcheck shell=bash
say "$(grep -rl '^X-Iomine\|^Subject:' "$SITE/maildir" | wc -l) mails, such as:"
grep -rh '^Subject:' "$SITE/maildir" | sort | uniq -c | sort -rn | head -n 3 | sed 's/^/     /'
grep -E '^iomine_(sweep_(found|ingested|rejected)|newest_night)' "$SITE/metrics/iomine.prom" | sed 's/^/     /'
as_iomine iomine status
"$SITE/opt/bin/iomine" doctor --warehouse "$SITE/warehouse" > "$SITE/doctor.log" 2>&1 || fail "$(cat "$SITE/doctor.log")"
