# The units as they are installed, by systemd's own check; then what they start, as their user and without privileges.
# shellcheck shell=bash
if ! command -v systemd-analyze > /dev/null; then
  say "left out: there is no systemd-analyze"
  return
fi
mkdir -p "$SITE/units"
for unit in "$ROOT"/deploy/systemd/iomine-*.{service,timer}; do
  sed "s,/opt/iomine,$SITE/opt,; s,/data/iomine,$SITE," "$unit" > "$SITE/units/$(basename "$unit")"
done
systemd-analyze verify "$SITE"/units/* || fail "systemd does not take the units"
systemd-analyze security --offline=true "$SITE"/units/*.service --threshold=30 | grep -i "overall" | sed 's/^/     /'
arrive
program=$(sed -n 's/^ExecStart=//p' "$SITE/units/iomine-nightly.service")
as_iomine "$program"
check_swept
