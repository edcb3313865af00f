# A line in the crontab of the user iomine, and cron itself.
# shellcheck shell=bash
if ! command -v cron > /dev/null; then
  say "left out: there is no cron"
  return
fi
arrive
# Every minute here; the manual's line says 15 2 * * *.
line="* * * * * IOMINE_CONFIG=$SITE/iomine.toml $SITE/opt/bin/iomine --log-format json nightly >> $SITE/warehouse/nightly.log 2>&1"
say "$line"
echo "$line" | crontab -u iomine -
pgrep -x cron > /dev/null || start cron -f
wait_for 240 grep --quiet --no-messages '"event": "sweep"' "$SITE/warehouse/nightly.log" || fail "cron swept nothing in four minutes"
crontab -u iomine -r
wait_for 60 flock --nonblock "$SITE/warehouse/sweep.lock" true || fail "the sweep that cron started does not end"
check_swept
grep '"event": "sweep"' "$SITE/warehouse/nightly.log" | head -n 1 | cut -c 1-150 | sed 's/^/     /'
