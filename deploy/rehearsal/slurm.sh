# A real Slurm with three nodes: the night as one job of it, which scrontab hands in where a site has that.
# shellcheck shell=bash
if ! command -v slurmctld > /dev/null; then
  say "left out: there is no Slurm"
  return
fi
arrive
say "\$ sbatch --wait --wrap 'iomine nightly'"
PYTHONPATH=$ROOT/tests:$ROOT/tests/cluster "$ROOT/.venv/bin/python" "$ROOT/deploy/rehearsal/on_slurm.py" "$SITE" | sed 's/^/     /'
chown -R iomine:iomine "$SITE/warehouse"
check_swept
