# By hand, as the manual has it: check the settings, sweep, look at what came of it.
# shellcheck shell=bash
arrive
as_iomine iomine config check
as_iomine iomine nightly
check_swept
as_iomine 'iomine sql "SELECT app, code, round(cost_core_seconds, 1) AS cost_core_seconds FROM findings ORDER BY ALL LIMIT 3"'
as_iomine 'iomine doctor | tail -n 6'
