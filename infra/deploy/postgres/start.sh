#!/bin/sh
# PostgreSQL reads a private key only if it is its own user's and closed to others, which a mounted file is not.
set -eu
install -d -o postgres -g postgres -m 0700 /run/tls
install -o postgres -g postgres -m 0600 /run/secrets/postgres.key /run/tls/server.key
install -o postgres -g postgres -m 0644 /run/secrets/postgres.pem /run/tls/server.pem
exec docker-entrypoint.sh "$@"
