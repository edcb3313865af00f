# A sweep is killed while it reads; the next one does what is left.
# shellcheck shell=bash
arrive
before=$(swept)
setsid setpriv --reuid=iomine --regid=iomine --init-groups env IOMINE_CONFIG="$SITE/iomine.toml" "$SITE/opt/bin/iomine" --log-format json nightly \
  > "$SITE/killed.log" 2>&1 &
pid=$!
wait_for 60 grep -q '"stage": "read"' "$SITE/killed.log" || fail "the sweep does not begin to read"
kill -9 -- "-$pid"
wait "$pid" 2> /dev/null || true
[ "$(swept)" = "$before" ] || fail "readers see half a sweep"
say "killed with SIGKILL; readers still see the $before logs of before"
as_iomine iomine nightly
check_swept
