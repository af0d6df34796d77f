/** Clients, their sessions and idempotent requests, and the service's own keys. */
export const ACCESS = `
-- held is never written: an edge that begins a session locks the client's row, which takes the right to change some column.
-- The document alone decides a client's rights. changed_xid: the transaction that last wrote the row. Triggers set it, also
-- for a change by hand. An edge may write these rows, but not bring a revoked client back with an earlier document.
CREATE TABLE clients (
  revoked_at timestamptz,
  changed_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  held boolean,
  client_id text COLLATE "C" PRIMARY KEY,
  document bytea NOT NULL
);
CREATE INDEX clients_changed ON clients (changed_xid);
CREATE FUNCTION ledger_note_client() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.revoked_at IS DISTINCT FROM NEW.revoked_at AND OLD.revoked_at IS NOT NULL THEN
    RAISE EXCEPTION 'a revoked client stays revoked';
  END IF;
  NEW.changed_xid := pg_current_xact_id();
  RETURN NEW;
END $$;
CREATE TRIGGER clients_changed BEFORE INSERT OR UPDATE OF document, revoked_at ON clients
  FOR EACH ROW EXECUTE FUNCTION ledger_note_client();

-- revoked_xid: the transaction that revoked the session.
CREATE TABLE refresh_families (
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  rotated_at timestamptz NOT NULL,
  revoked_at timestamptz,
  revoked_xid xid8,
  session_id text PRIMARY KEY,
  client_id text NOT NULL,
  token_hash text NOT NULL UNIQUE
);
CREATE INDEX refresh_families_by_client ON refresh_families (client_id);
CREATE INDEX refresh_families_changed ON refresh_families (revoked_xid) WHERE revoked_xid IS NOT NULL;
CREATE FUNCTION ledger_note_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.revoked_xid := pg_current_xact_id(); RETURN NEW; END $$;
CREATE TRIGGER refresh_families_changed BEFORE INSERT OR UPDATE OF revoked_at ON refresh_families
  FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION ledger_note_session();

-- Exchanged tokens: they never yield tokens again, and the late use of one revokes its family.
CREATE TABLE used_refresh_tokens (
  used_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  token_hash text PRIMARY KEY,
  session_id text NOT NULL
);
CREATE INDEX used_refresh_tokens_by_expiry ON used_refresh_tokens (expires_at);

-- Assertions that clients have signed (RFC 7523) and presented: each yields tokens once.
CREATE TABLE spent_assertions (
  expires_at timestamptz NOT NULL,
  assertion_hash text PRIMARY KEY
);
CREATE INDEX spent_assertions_by_expiry ON spent_assertions (expires_at);

-- A deleted or renamed client leaves no row: after such a change edges look up every client again.
CREATE TABLE access_resets (
  reset_xid xid8 NOT NULL,
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton)
);
INSERT INTO access_resets (reset_xid) VALUES (pg_current_xact_id());
CREATE FUNCTION ledger_reset_access() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN UPDATE access_resets SET reset_xid = pg_current_xact_id(); RETURN NULL; END $$;
CREATE TRIGGER clients_reset AFTER DELETE OR TRUNCATE OR UPDATE OF client_id ON clients
  EXECUTE FUNCTION ledger_reset_access();

-- Requests with the header \`Idempotency-Key\`. key_ref: a keyed hash of client, path and key. attempts: the number of open
-- attempts; a row with status begun and no attempts counts as absent. document: the request's hash, and its reply once there
-- is one; sealed for the status.
CREATE TABLE idempotent_requests (
  created_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL CHECK (attempts >= 0),
  client_id text COLLATE "C" NOT NULL,
  key_ref text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('begun', 'answered')),
  document bytea NOT NULL,
  PRIMARY KEY (client_id, key_ref)
) WITH (fillfactor = 50);
CREATE INDEX idempotent_requests_by_time ON idempotent_requests (created_at);

CREATE TABLE idempotent_answer_parts (
  created_at timestamptz NOT NULL DEFAULT now(),
  number integer NOT NULL CHECK (number >= 0),
  client_id text COLLATE "C" NOT NULL,
  key_ref text COLLATE "C" NOT NULL,
  attempt text COLLATE "C" NOT NULL,
  -- Sealed bytes do not compress.
  document bytea STORAGE EXTERNAL NOT NULL,
  PRIMARY KEY (client_id, key_ref, attempt, number)
);
CREATE INDEX idempotent_answer_parts_by_time ON idempotent_answer_parts (created_at);

-- Public keys of the service. import: other ledgers encrypt to it; it signs nothing and is not in the JWKS.
-- tag: proves that the ledger made the key, without its private key. revoked_at: no signature of the key counts any more.
CREATE TABLE service_keys (
  active_from timestamptz NOT NULL,
  retired_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL,
  key_id text PRIMARY KEY,
  purpose text NOT NULL CHECK (purpose IN ('token', 'receipt', 'assertion', 'attestation', 'import')),
  x text NOT NULL,
  y text NOT NULL,
  tag bytea NOT NULL
);
-- A table of private keys for each part that uses them. sealed: PKCS #8, or the name of a key outside, under the wrapping key of the key's purpose.
CREATE TABLE node_private_keys (key_id text PRIMARY KEY, sealed bytea NOT NULL);
CREATE TABLE edge_private_keys (key_id text PRIMARY KEY, sealed bytea NOT NULL);

-- The chain of administrative acts. document: the hashed text, sealed for its sequence. account_id: a keyed hash of the account
-- that the act is about. An entry that does not continue the chain is refused, so that no writer can block those after it.
CREATE TABLE administrative_entries (
  sequence bigint PRIMARY KEY CHECK (sequence >= 0),
  commit_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  account_id text COLLATE "C",
  previous_hash bytea NOT NULL CHECK (octet_length(previous_hash) = 32),
  audit_hash bytea NOT NULL CHECK (octet_length(audit_hash) = 32),
  document bytea NOT NULL
);
CREATE FUNCTION ledger_check_administrative() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE last administrative_entries%ROWTYPE;
BEGIN
  SELECT * INTO last FROM administrative_entries ORDER BY sequence DESC LIMIT 1;
  IF NEW.sequence <> coalesce(last.sequence + 1, 0)
     OR NEW.previous_hash <> coalesce(last.audit_hash, decode(repeat('00', 32), 'hex')) THEN
    RAISE EXCEPTION 'it does not continue the administrative chain';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER administrative_entries_continue BEFORE INSERT ON administrative_entries
  FOR EACH ROW EXECUTE FUNCTION ledger_check_administrative();
CREATE INDEX administrative_entries_by_commit ON administrative_entries (commit_xid);
CREATE INDEX administrative_entries_by_account ON administrative_entries (account_id, sequence) WHERE account_id IS NOT NULL;
`
