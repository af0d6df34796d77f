/** Transactions, idempotent operations that are no transactions, and value that crossed the border of the ledger. */
export const TRANSACTIONS = `
-- A pending transaction changes once, to a final status; beside that compensated_by is set, once.
-- outcome: sealed; the end of a transaction that was pending. amount_bucket: a keyed hash of the amount's magnitude.
-- idempotency_key: a keyed hash. commit_xid orders the feed: no running transaction can add a row below the oldest
-- running transaction's number.
CREATE TABLE transactions (
  created_at timestamptz NOT NULL,
  processed_at timestamptz,
  sequence bigint,
  commit_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  shard_id integer NOT NULL,
  amount_bucket integer NOT NULL,
  group_id uuid,
  txn_id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  type text NOT NULL,
  token_id text COLLATE "C" NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),
  failure_code text,
  origin text NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  receipt_key_id text,
  compensated_by text COLLATE "C",
  previous_hash bytea,
  audit_hash bytea,
  document bytea NOT NULL,
  outcome bytea,
  PRIMARY KEY (shard_id, txn_id),
  CONSTRAINT transactions_final_has_receipt CHECK (
    (status = 'pending') = (processed_at IS NULL) AND (status = 'pending') = (receipt_key_id IS NULL)
    AND (outcome IS NULL OR status <> 'pending'))
);
-- The order of the indexes matters: of indexes with equal estimates, as all are while the table is empty, the planner takes
-- the newest. A look-up of a key must not be planned as a walk through all transactions of the account.
CREATE INDEX transactions_by_id ON transactions (txn_id);
CREATE INDEX transactions_by_commit ON transactions (commit_xid, txn_id);
CREATE INDEX transactions_by_group ON transactions (group_id, txn_id) WHERE group_id IS NOT NULL;
-- Changes of a token's supply. Its columns, and those of its condition, never change: a final status changes no index.
CREATE INDEX transactions_of_supply ON transactions (token_id, txn_id) WHERE type IN ('mint', 'burn');
CREATE INDEX transactions_by_account ON transactions (shard_id, account_id, txn_id);
CREATE UNIQUE INDEX transactions_by_key ON transactions (shard_id, account_id, idempotency_key);
-- Transactions that clients made on an account under a group ID. Without the status, which changes.
CREATE INDEX transactions_by_group_use ON transactions (shard_id, account_id, group_id, type, token_id)
  WHERE group_id IS NOT NULL AND origin = 'client';
-- The rows whose amount may match, newest first: a search reads no others.
CREATE INDEX transactions_by_amount ON transactions (amount_bucket, txn_id);

-- Idempotent operations that are no transactions. document: the whole original reply. idempotency_key: a keyed hash.
CREATE TABLE operations (
  recorded_at timestamptz NOT NULL,
  shard_id integer NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  operation text NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  document bytea NOT NULL,
  PRIMARY KEY (shard_id, account_id, operation, idempotency_key)
);

-- Value that entered and left the ledger, one row a commit: a sum would have to be readable to be added to.
-- shards: those of the commit that passed its fence. Entries of the document for other shards did not take effect.
CREATE TABLE boundary_crossings (
  number bigint NOT NULL,
  session text COLLATE "C" NOT NULL,
  shards integer[] NOT NULL,
  document bytea NOT NULL,
  PRIMARY KEY (session, number)
);
`
