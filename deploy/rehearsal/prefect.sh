# A server of Prefect, the deployments of deploy/prefect.yaml, and a worker that takes what is due.
# shellcheck shell=bash
arrive
export PREFECT_HOME="$SITE/prefect" PREFECT_API_URL=http://127.0.0.1:4288/api PREFECT_SERVER_ANALYTICS_ENABLED=false
export IOMINE_CONFIG="$SITE/iomine.toml" NO_COLOR=1
prefect="$SITE/opt/bin/prefect"
start "$prefect" server start --host 127.0.0.1 --port 4288
wait_for 90 curl --silent --fail --output /dev/null "$PREFECT_API_URL/health" || fail "Prefect's server does not answer"
sed "s,/data/iomine,$SITE/warehouse," "$ROOT/deploy/prefect.yaml" > "$SITE/prefect.yaml"
say "\$ prefect work-pool create iomine --type process"
"$prefect" work-pool create iomine --type process > /dev/null
say "\$ prefect --no-prompt deploy --all --prefect-file deploy/prefect.yaml"
(cd "$SITE" && "$prefect" --no-prompt deploy --all --prefect-file prefect.yaml) > "$SITE/deploy.log" 2>&1 || fail "$(tail -n 5 "$SITE/deploy.log")"
say "\$ prefect worker start --pool iomine"
start env --chdir="$SITE" PATH="$SITE/opt/bin:$PATH" "$prefect" worker start --pool iomine
say "\$ prefect deployment run nightly/nightly --watch"
"$prefect" deployment run nightly/nightly --watch > "$SITE/run.log" 2>&1 || fail "$(tail -n 15 "$SITE/run.log")"
tail -n 1 "$SITE/run.log" | sed 's/^/     /'
chown -R iomine:iomine "$SITE/warehouse"
check_swept
unset PREFECT_API_URL
