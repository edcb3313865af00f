# The program from its wheel, and all that it needs by the lock file, with hashes; a mail server that fills a maildir.
# shellcheck shell=bash
YESTERDAY=$(date -u -d yesterday +%F) BEFORE=$(date -u -d '2 days ago' +%F)
drop_user
! id iomine > /dev/null 2>&1 || fail "there is a user iomine already, and perhaps a site of theirs"
run useradd --system --home-dir "$SITE" --shell /usr/sbin/nologin iomine
mkdir -p "$SITE"
chmod 755 "$SITE"

# A Python in somebody's home is not for others.
python=python3
setpriv --reuid=iomine --regid=iomine --init-groups "$(command -v python3)" -c "" 2> /dev/null || python=/usr/bin/python3
run "$python" -m venv "$SITE/opt"
PATH=$SITE/opt/bin:$PATH
run pip install --upgrade pip
run pip install --require-hashes -r "$ROOT/deploy/requirements.txt"
run pip wheel --no-deps --wheel-dir "$SITE/wheels" "$ROOT"
run pip install --no-deps "$SITE"/wheels/iomine-*.whl
run pip check
install -D -m 755 "$ROOT/deploy/systemd/iomine-failed" "$SITE/opt/share/iomine-failed"

# Logs of two days, as a machine would have written them; those of yesterday arrive bit by bit.
"$SITE/opt/bin/iomine" simulate "$SITE/machine" --logs 96 --days 2 --start "$BEFORE" --cluster ada > /dev/null 2>&1
mkdir -p "$SITE/arriving" "$SITE/logs"
number=0
while read -r log; do
  mkdir -p "$SITE/arriving/$((number % 8 + 1))"
  cp "$log" "$SITE/arriving/$((number % 8 + 1))"
  number=$((number + 1))
done < <(find "$SITE/machine/darshan/${YESTERDAY//-//}" -name '*.darshan' | sort)

cat > "$SITE/iomine.toml" << EOF
warehouse = "$SITE/warehouse"
[clusters.ada]
logs = ["$SITE/logs/%Y-%m-%d"]
stats = ["$SITE/machine/slurm/sacct.txt"]
[nightly]
digest = true
metrics = "$SITE/metrics/iomine.prom"
[digest]
least_core_hours = 0.001
operators = ["operator@site.test"]
[digest.directory]
template = "{user}@site.test"
[digest.smtp]
host = "127.0.0.1"
port = $PORT
tls = "none"
EOF
install -d -o iomine -g iomine -m 750 "$SITE/warehouse" "$SITE/metrics" "$SITE/backups"
start "$ROOT/.venv/bin/python" -m aiosmtpd --nosetuid --listen "127.0.0.1:$PORT" --class aiosmtpd.handlers.Mailbox "$SITE/maildir"
