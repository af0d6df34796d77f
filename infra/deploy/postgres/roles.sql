-- The roles of a ledger and its database, made once by a superuser with psql before the first `ledger migrate`, which then
-- grants each role what is its own (infra/postgres/roles.ts), and does so again with each new version.
-- Passwords come from the files that make-secrets.mjs made; SECRETS is their directory. None is an argument or in a log.

\set owner_password `cat "$SECRETS/ledger_owner.password"`
\set node_password `cat "$SECRETS/ledger_node.password"`
\set edge_password `cat "$SECRETS/ledger_edge.password"`
\set auditor_password `cat "$SECRETS/ledger_auditor.password"`
\set backup_password `cat "$SECRETS/ledger_backup.password"`

SET log_statement = 'none';
SET log_min_duration_statement = -1;
SET log_min_error_statement = 'panic';
SET password_encryption = 'scram-sha-256';

CREATE ROLE ledger_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'owner_password';
CREATE ROLE ledger_node LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'node_password';
CREATE ROLE ledger_edge LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'edge_password';
CREATE ROLE ledger_auditor LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'auditor_password';
CREATE ROLE ledger_backup LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'backup_password';

CREATE DATABASE ledger OWNER ledger_owner;
REVOKE ALL ON DATABASE ledger FROM PUBLIC;
GRANT CONNECT ON DATABASE ledger TO ledger_owner, ledger_node, ledger_edge, ledger_auditor, ledger_backup;

-- `ledger backup` reads the files of the server: all of its data directory, with the hashes of passwords in it.
\connect ledger
GRANT EXECUTE ON FUNCTION
  pg_backup_start(text, boolean),
  pg_backup_stop(boolean),
  pg_ls_dir(text, boolean, boolean),
  pg_stat_file(text, boolean),
  pg_read_binary_file(text, bigint, bigint, boolean)
  TO ledger_backup;
