# The host was down the night before: the next one sweeps both days.
# shellcheck shell=bash
arrive_on "$BEFORE" "$SITE/machine/darshan/${BEFORE//-//}"
arrive
as_iomine iomine nightly
check_swept
