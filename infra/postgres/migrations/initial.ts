/** Shards, accounts with their chains, transactions, clients and the service's keys. */
export const INITIAL = `
CREATE TABLE ledger (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  ledger_id text NOT NULL,
  shard_count integer NOT NULL CHECK (shard_count BETWEEN 1 AND 65536),
  sealed_shard_secret bytea NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE TABLE shards (
  shard_id integer PRIMARY KEY,
  epoch bigint NOT NULL DEFAULT 0,
  attempt integer NOT NULL DEFAULT 0,
  node_id text,
  session text,
  updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

-- Written by a probe: proof that this session's writes commit. Counts what its commits decided.
CREATE TABLE sessions (
  session text PRIMARY KEY,
  node_id text NOT NULL,
  started_at timestamptz NOT NULL,
  probed_at timestamptz NOT NULL,
  completed_count bigint NOT NULL DEFAULT 0,
  failed_count bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE TABLE accounts (
  shard_id integer NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'frozen', 'closed')),
  incoming text NOT NULL CHECK (incoming IN ('accept', 'refuse')),
  key_id text,
  public_key text,
  sequence bigint NOT NULL,
  tip bytea NOT NULL CHECK (octet_length(tip) = 32),
  completed_count bigint NOT NULL,
  failed_count bigint NOT NULL,
  registered_by text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  last_time timestamptz NOT NULL,
  PRIMARY KEY (shard_id, account_id)
) WITH (fillfactor = 70);
CREATE INDEX accounts_by_id ON accounts (account_id);

CREATE TABLE account_keys (
  shard_id integer NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  key_id text NOT NULL,
  from_sequence bigint NOT NULL,
  public_key text NOT NULL,
  registered_at timestamptz NOT NULL,
  PRIMARY KEY (shard_id, account_id, from_sequence)
);

CREATE TABLE balances (
  shard_id integer NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  token_id text COLLATE "C" NOT NULL,
  balance numeric(36, 18) NOT NULL CHECK (balance >= 0),
  reserved numeric(36, 18) NOT NULL CHECK (reserved >= 0 AND reserved <= balance),
  incoming numeric(36, 18) NOT NULL CHECK (incoming >= 0),
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (shard_id, account_id, token_id)
) WITH (fillfactor = 70);

CREATE TABLE audit_entries (
  shard_id integer NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  txn_id text COLLATE "C",
  previous_hash bytea NOT NULL CHECK (octet_length(previous_hash) = 32),
  audit_hash bytea NOT NULL CHECK (octet_length(audit_hash) = 32),
  payload text NOT NULL,
  PRIMARY KEY (shard_id, account_id, sequence)
);

-- The ID carries the shard, so that an index that leads with it leads with neither more nor less than the shard gives.
-- commit_xid orders the feed: what is below every running transaction's number can no longer be joined by anything.
CREATE TABLE transactions (
  shard_id integer NOT NULL,
  txn_id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  type text NOT NULL,
  amount text NOT NULL,
  quantity numeric(36, 18) NOT NULL,
  token_id text COLLATE "C" NOT NULL,
  group_id uuid,
  status text NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),
  failure_code text,
  failure_detail text,
  origin text NOT NULL,
  metadata text,
  created_at timestamptz NOT NULL,
  processed_at timestamptz NOT NULL,
  sequence bigint,
  previous_hash bytea,
  audit_hash bytea,
  idempotency_key text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  payload_hash bytea NOT NULL,
  signature text NOT NULL,
  key_id text NOT NULL,
  receipt_key_id text NOT NULL,
  receipt_signature text NOT NULL,
  commit_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (shard_id, txn_id)
);
CREATE INDEX transactions_by_account ON transactions (shard_id, account_id, txn_id);
CREATE INDEX transactions_by_id ON transactions (txn_id);
CREATE INDEX transactions_by_commit ON transactions (commit_xid, txn_id);
CREATE INDEX transactions_by_group ON transactions (group_id, txn_id) WHERE group_id IS NOT NULL;
-- Made last: of indexes that promise equally little, as all do while the table is empty, the planner takes the newest,
-- and a look-up of a key must not be planned as a walk through all that its account ever did.
CREATE UNIQUE INDEX transactions_by_key ON transactions (shard_id, account_id, idempotency_key);

-- Idempotent operations that are no transactions: the original answer, whole.
CREATE TABLE operations (
  shard_id integer NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  operation text NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  payload_hash bytea NOT NULL,
  key_id text NOT NULL,
  answer text NOT NULL,
  recorded_at timestamptz NOT NULL,
  PRIMARY KEY (shard_id, account_id, operation, idempotency_key)
);

CREATE TABLE clients (
  client_id text COLLATE "C" PRIMARY KEY,
  secret_hash text NOT NULL,
  role text NOT NULL CHECK (role IN ('viewer', 'transactor', 'admin')),
  boundary jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  revoked_at timestamptz
);

CREATE TABLE refresh_families (
  session_id text PRIMARY KEY,
  client_id text NOT NULL,
  token_hash text NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  rotated_at timestamptz NOT NULL,
  revoked_at timestamptz
);
-- Tokens that were exchanged: they never yield tokens again, and one that comes back late revokes its family.
CREATE TABLE used_refresh_tokens (
  token_hash text PRIMARY KEY,
  session_id text NOT NULL,
  used_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX refresh_families_by_client ON refresh_families (client_id);
CREATE INDEX refresh_families_revoked ON refresh_families (revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX used_refresh_tokens_by_expiry ON used_refresh_tokens (expires_at);

-- The service's own signing keys; the private part is sealed under the master key.
CREATE TABLE service_keys (
  key_id text PRIMARY KEY,
  purpose text NOT NULL CHECK (purpose IN ('token', 'receipt', 'assertion', 'attestation')),
  x text NOT NULL,
  y text NOT NULL,
  sealed_private_key bytea NOT NULL,
  active_from timestamptz NOT NULL,
  retired_at timestamptz,
  created_at timestamptz NOT NULL
);

-- Raises inside the statement that calls it, so that nothing of that statement is applied (I1b).
CREATE FUNCTION ledger_demand(holds boolean, broken text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF holds IS NOT TRUE THEN RAISE EXCEPTION USING ERRCODE = 'LG001', MESSAGE = broken; END IF;
  RETURN true;
END $$;
`
