# What the parts of the rehearsal share. $SITE is all of the site: its Python, its logs, its warehouse, its mails.
# shellcheck shell=bash

export PORT=8825
CREW=()

# Runs a part and shows what it did, indented.
step() {
  local began=$SECONDS
  echo "== $1"
  # shellcheck disable=SC1090
  . "$ROOT/deploy/rehearsal/$1.sh"
  echo "   ($((SECONDS - began)) s)"
}

say() { echo "   $*"; }
fail() { echo "   FAILED: $*" >&2; exit 1; }

# Shows a command and runs it; what it writes only if it fails.
run() {
  local shown=${*//$SITE\//}
  shown=${shown//$ROOT\//}
  say "\$ ${shown//$ROOT/.}"
  "$@" > "$SITE/run.log" 2>&1 || fail "$(tail -n 20 "$SITE/run.log")"
}

# Shows a command as the manual has it, and runs it as the user iomine, with the rights that the units leave.
as_iomine() {
  say "\$ $*"
  setpriv --reuid=iomine --regid=iomine --init-groups --no-new-privs --bounding-set=-all \
    env -i HOME="$SITE" PATH="$SITE/opt/bin:/usr/bin:/bin" IOMINE_CONFIG="$SITE/iomine.toml" LANG=C.UTF-8 \
    bash -c "umask 027; cd '$SITE'; $*" 2>&1 | sed '/━/d; s/^/     /'
  return "${PIPESTATUS[0]}"
}

# Starts a server that ends with the rehearsal.
start() {
  setsid "$@" > "$SITE/server-${#CREW[@]}.log" 2>&1 &
  CREW+=("$!")
}

end_all() {
  local pid
  for pid in "${CREW[@]}"; do kill -- "-$pid" 2> /dev/null || true; done
  # Prefect's worker may wait for a server that ends with it.
  [ ${#CREW[@]} = 0 ] || sleep 5
  for pid in "${CREW[@]}"; do kill -KILL -- "-$pid" 2> /dev/null || true; done
  drop_user
}

# The user of this rehearsal, or of one that was killed before it could end; a site's own user lives elsewhere.
drop_user() {
  local home
  home=$(getent passwd iomine | cut -d : -f 6) || return 0
  case $home in
    "$SITE" | */iomine-site[.-]*)
      crontab -u iomine -r 2> /dev/null || true
      pkill -KILL -u iomine || true
      userdel iomine
      ;;
  esac
}

# Logs of yesterday arrive: the next of the parts into which they were cut.
arrive() {
  PART=$((${PART:-0} + 1))
  arrive_on "$YESTERDAY" "$SITE/arriving/$PART"
}

arrive_on() {
  mkdir -p "$SITE/logs/$1"
  find "$2" -name '*.darshan' -exec cp -t "$SITE/logs/$1" {} +
}

# How many logs the warehouse has, and how many lie in its folders.
swept() { "$SITE/opt/bin/iomine" sql "SELECT count(*) FROM logs" --warehouse "$SITE/warehouse" --format csv | tail -n 1; }
lying() { find "$SITE/logs" -name '*.darshan' | wc -l; }

# Each log that lies there is in the warehouse, once.
check_swept() {
  [ "$(swept)" = "$(lying)" ] || fail "$(lying) logs lie there, and the warehouse has $(swept)"
  say "$(swept) logs lie there, and all of them are in the warehouse"
}

# Waits for a command to succeed, for so many seconds.
wait_for() {
  local seconds=$1
  shift
  for _ in $(seq "$seconds"); do
    if "$@"; then return 0; fi
    sleep 1
  done
  return 1
}
