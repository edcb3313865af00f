# The image, made on Debian's Python in place of the registry's, and a night in it: no rights, a root that cannot be written, no network.
# shellcheck shell=bash
if ! { type podman buildah runc mmdebstrap; } > /dev/null 2>&1; then
  say "Left out: podman, buildah, runc and mmdebstrap are not installed."
  return
fi
# Rehearsals run in containers themselves, which may have no overlays and cannot raise limits.
export STORAGE_DRIVER=vfs
podman=(podman --runtime runc --root "$SITE/images" --runroot "$SITE/containers")
limits=(--ulimit nofile=1024:4096 --ulimit nproc=1024:2048)
hardened=(--read-only --tmpfs /tmp --cap-drop all --security-opt no-new-privileges)

run mmdebstrap --quiet --variant=minbase --include=python3,python3-venv,ca-certificates "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$SITE/base.tar"
run "${podman[@]}" import "$SITE/base.tar" localhost/base
rm "$SITE/base.tar"
# Whom this host trusts, pip trusts in the image too.
run buildah --root "$SITE/images" --runroot "$SITE/containers" build --isolation chroot --build-arg BASE=localhost/base \
  --volume /etc/ssl/certs:/etc/ssl/certs:ro --env PIP_CERT=/etc/ssl/certs/ca-certificates.crt --tag iomine --file "$ROOT/deploy/container/Containerfile" "$ROOT"

in_container() {
  "${podman[@]}" run --rm "${limits[@]}" "${hardened[@]}" --network none --volume "$SITE/in_container:/data" \
    --volume "$SITE/logs:/logs:ro" localhost/iomine "$@" 2>&1
}
install -d -o 10001 -g 10001 -m 750 "$SITE/in_container"
printf 'warehouse = "/data"\n[clusters.ada]\nlogs = ["/logs/%%Y-%%m-%%d"]\n' > "$SITE/in_container/iomine.toml"
say "\$ podman run --read-only --cap-drop all --network none ... iomine nightly"
in_container nightly | sed '/━/d; s/^/     /'
# Paths in a warehouse are those that the container sees.
night=$(in_container sql "SELECT count(*) FROM logs" --format csv | tail -n 1)
[ "$night" = "$(lying)" ] || fail "$(lying) logs lie there, and the container's warehouse has $night"
say "$night logs lie there, and all of them are in the container's warehouse"
unset STORAGE_DRIVER
