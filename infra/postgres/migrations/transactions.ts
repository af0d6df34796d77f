/** Transactions, the log of commits, idempotent operations that are no transactions, and value that crossed the border. */
export const TRANSACTIONS = `
-- Final transactions: a row is inserted once, and changes only when its transaction is compensated or
-- refunded. document: sealed, for the values of all other columns. refunded: sealed; the sum of the completed refunds.
-- group_id: a keyed hash, as a UUID; that of a group differs between its accounts. amount_bucket: a
-- keyed hash of the amount's magnitude, by default of the account alone. idempotency_key: a keyed hash.
-- received_token_id: the fungible asset that an exchange receives.
-- sequence, previous_hash, audit_hash: a completed transaction is its own entry in its account's chain.
-- entered_xid, ended_xid: the commits that entered and ended it; they differ where others decided on it.
CREATE TABLE transactions (
  created_at timestamptz NOT NULL,
  processed_at timestamptz NOT NULL,
  sequence bigint,
  entered_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  ended_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  shard_id integer NOT NULL,
  amount_bucket integer NOT NULL,
  group_id uuid,
  txn_id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  type text NOT NULL,
  token_id text COLLATE "C" NOT NULL,
  received_token_id text COLLATE "C",
  status text NOT NULL CHECK (status IN ('completed', 'failed')),
  failure_code text,
  origin text NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  receipt_key_id text NOT NULL,
  compensated_by text COLLATE "C",
  previous_hash bytea,
  audit_hash bytea,
  refunded bytea,
  document bytea NOT NULL,
  CONSTRAINT transactions_in_chain CHECK ((status = 'completed') = (sequence IS NOT NULL)
    AND (sequence IS NULL) = (previous_hash IS NULL) AND (sequence IS NULL) = (audit_hash IS NULL))
);
-- The order of the indexes matters: of indexes with equal estimates, as all are while the table is empty, the planner takes
-- the newest. A look-up of a key must not be planned as a walk through all transactions of the account.
CREATE INDEX transactions_by_group ON transactions (group_id, txn_id) WHERE group_id IS NOT NULL;
CREATE INDEX transactions_of_supply ON transactions (token_id, txn_id) WHERE type IN ('mint', 'burn');
-- Within an account, times and sequences of completed transactions rise together.
CREATE INDEX transactions_by_asset ON transactions (shard_id, account_id, token_id, processed_at, sequence)
  WHERE sequence IS NOT NULL;
CREATE INDEX transactions_by_received_asset
  ON transactions (shard_id, account_id, received_token_id, processed_at, sequence)
  WHERE sequence IS NOT NULL AND received_token_id IS NOT NULL;
CREATE INDEX transactions_by_account ON transactions (shard_id, account_id, txn_id);
CREATE UNIQUE INDEX transactions_by_sequence ON transactions (shard_id, account_id, sequence) WHERE sequence IS NOT NULL;
CREATE UNIQUE INDEX transactions_by_key ON transactions (shard_id, account_id, idempotency_key);
-- Transactions that clients made on an account under a group ID.
CREATE INDEX transactions_by_group_use ON transactions (shard_id, account_id, group_id, type, token_id)
  WHERE group_id IS NOT NULL AND origin = 'client';

-- Transactions that others decide on. The row is deleted as the final one is inserted. is_hold: it is also the account's hold
-- under the transaction's ID; other pending transactions belong to a leg, which is the hold.
-- hold: sealed; what the hold adds to the transaction, null where it only reserves the amount.
CREATE TABLE pending_transactions (
  created_at timestamptz NOT NULL,
  entered_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  shard_id integer NOT NULL,
  amount_bucket integer NOT NULL,
  group_id uuid,
  is_hold boolean NOT NULL,
  txn_id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  type text NOT NULL,
  token_id text COLLATE "C" NOT NULL,
  origin text NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  document bytea NOT NULL,
  hold bytea
);
CREATE INDEX pending_transactions_by_group ON pending_transactions (group_id, txn_id) WHERE group_id IS NOT NULL;
CREATE INDEX pending_transactions_by_account ON pending_transactions (shard_id, account_id, txn_id);
CREATE UNIQUE INDEX pending_transactions_by_key ON pending_transactions (shard_id, account_id, idempotency_key);

CREATE VIEW all_transactions AS
SELECT shard_id, txn_id, account_id, type, token_id, received_token_id, group_id, status, failure_code, origin, created_at, processed_at,
       sequence, previous_hash, audit_hash, receipt_key_id, amount_bucket, idempotency_key, compensated_by, refunded, document,
       entered_xid, ended_xid
  FROM transactions
 UNION ALL
SELECT shard_id, txn_id, account_id, type, token_id, NULL::text COLLATE "C", group_id, 'pending'::text, NULL::text, origin, created_at,
       NULL::timestamptz, NULL::bigint, NULL::bytea, NULL::bytea, NULL::text, amount_bucket, idempotency_key,
       NULL::text COLLATE "C", NULL::bytea, document, entered_xid, NULL::xid8
  FROM pending_transactions;

-- Everything that accounts hold. document: as in holds, or as hold in pending_transactions, empty where that is null.
CREATE VIEW all_holds AS
SELECT shard_id, account_id, hold_id, document FROM holds
 UNION ALL
SELECT shard_id, account_id, txn_id, coalesce(hold, ''::bytea) FROM pending_transactions WHERE is_hold;

-- One row for each commit that entered or ended transactions. final: entered and ended at once; pending: entered; ended: pending
-- since an earlier commit. It orders the feed: no running transaction can add a row below the oldest running transaction's
-- number.
CREATE TABLE commits (
  commit_xid xid8 PRIMARY KEY DEFAULT pg_current_xact_id(),
  final text[] COLLATE "C" NOT NULL,
  pending text[] COLLATE "C" NOT NULL,
  ended text[] COLLATE "C" NOT NULL
);
CREATE VIEW transaction_feed AS
SELECT c.commit_xid AS entered_xid, e.txn_id FROM commits c CROSS JOIN LATERAL unnest(c.final || c.pending) AS e (txn_id);

-- Every entry of every chain. payload: sealed; null for a completed transaction, from which it is computed.
CREATE VIEW chain_entries AS
SELECT shard_id, account_id, sequence, previous_hash, audit_hash, commit_xid, payload, NULL::text COLLATE "C" AS txn_id,
       NULL::text AS type, token_id, NULL::text COLLATE "C" AS received_token_id, NULL::uuid AS group_id, NULL::text AS status,
       NULL::text AS failure_code, NULL::text AS origin, NULL::timestamptz AS created_at,
       processed_at, NULL::text AS receipt_key_id, NULL::integer AS amount_bucket,
       NULL::text COLLATE "C" AS idempotency_key, NULL::text COLLATE "C" AS compensated_by, NULL::bytea AS refunded,
       NULL::bytea AS document
  FROM audit_entries
 UNION ALL
SELECT shard_id, account_id, sequence, previous_hash, audit_hash, ended_xid, NULL::bytea, txn_id, type, token_id, received_token_id,
       group_id, status, failure_code, origin, created_at, processed_at, receipt_key_id, amount_bucket,
       idempotency_key, compensated_by, refunded, document
  FROM transactions WHERE sequence IS NOT NULL;

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
