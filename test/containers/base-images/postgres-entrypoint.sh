#!/bin/sh
# The steps of the original's entry point that infra/deploy needs: a new database directory, the superuser's password,
# and the SQL files of /docker-entrypoint-initdb.d. Then the server runs as its own user.
set -eu
if [ "$(id -u)" = 0 ]; then
  install -d -o postgres -g postgres -m 0700 "$PGDATA"
  # A restored directory has the files of another user.
  find "$PGDATA" ! -user postgres -exec chown postgres:postgres {} +
  exec setpriv --reuid postgres --regid postgres --clear-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # The arguments are several words.
  # shellcheck disable=SC2086
  initdb --username postgres --pwfile "$POSTGRES_PASSWORD_FILE" ${POSTGRES_INITDB_ARGS:-}
  pg_ctl start --wait -o "-c listen_addresses='' -c unix_socket_directories=/var/run/postgresql"
  PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
  export PGPASSWORD
  for file in /docker-entrypoint-initdb.d/*.sql; do
    psql --host /var/run/postgresql --username postgres --set ON_ERROR_STOP=1 --no-psqlrc --file "$file"
  done
  unset PGPASSWORD
  pg_ctl stop --wait --mode fast
fi
exec "$@"
