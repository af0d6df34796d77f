/** What the auditor has walked. */
export const AUDIT = `
-- Which commit wrote it: what was written since a pass began is found by it, as transactions are in the feed. Null of
-- what is older than this column: a pass walks it.
ALTER TABLE audit_entries ADD COLUMN commit_xid xid8;
ALTER TABLE audit_entries ALTER COLUMN commit_xid SET DEFAULT pg_current_xact_id();
CREATE INDEX audit_entries_by_commit ON audit_entries (commit_xid);
ALTER TABLE nft_events ADD COLUMN commit_xid xid8;
ALTER TABLE nft_events ALTER COLUMN commit_xid SET DEFAULT pg_current_xact_id();
CREATE INDEX nft_events_by_commit ON nft_events (commit_xid);

-- What changed a token's supply. Of columns that never change: those of an index, its condition included, must not be
-- among those that a transaction's end writes.
CREATE INDEX transactions_of_supply ON transactions (token_id, txn_id) WHERE type IN ('mint', 'burn');

-- How far the auditor has come, as one document.
CREATE TABLE audit_progress (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  document text NOT NULL,
  updated_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- What it has found wrong. pass: the number of the pass that was under way; what the pass after it does not find again
-- goes when that one is complete.
CREATE TABLE audit_findings (
  subject text COLLATE "C" NOT NULL,
  place text COLLATE "C" NOT NULL,
  problem text NOT NULL,
  pass bigint NOT NULL,
  found_at timestamptz NOT NULL,
  PRIMARY KEY (subject, place)
);

-- Transactions that were pending when they were looked at: their end is in no feed.
CREATE TABLE audit_pending (
  shard_id integer NOT NULL,
  txn_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (shard_id, txn_id)
);
`
