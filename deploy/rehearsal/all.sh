#!/usr/bin/env bash
# A site, from nothing to nights that start by themselves: installs iomine from the lock file alone, then has each scheduler sweep,
# and looks at what there is the morning after. Run it as root on a machine that you can throw away; it makes the user `iomine`, and
# leaves nothing else behind. A scheduler that is not installed is left out, and named.
#
#   deploy/rehearsal/all.sh [FOLDER]      the checkout needs its test environment (make .venv/.ready-to-test)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export ROOT=${here%/deploy/rehearsal} SITE=${1:-$(mktemp -d /tmp/iomine-site.XXXXXX)}
# shellcheck source=site.sh
. "$here/site.sh"
trap 'end_all; [ $# -gt 0 ] || rm -rf "$SITE"' EXIT

if [ "$(id -u)" != 0 ]; then
  echo "Left out: only root can make the user iomine."
  exit
fi
step install
step first_night
step backup
step systemd
step cron
step prefect
step slurm
step container
step failure
step missed_night
step killed
step morning
echo "All of it went well, in $SECONDS s."
