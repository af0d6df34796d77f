/** The log of the ledger (C2SP tlog-tiles): what it covers is in the chains. */
export const LOG = `
-- position: the PostgreSQL cluster (system identifier), and the transaction number below which all entries are in the log.
CREATE TABLE log_head (
  size bigint NOT NULL,
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  root bytea NOT NULL,
  position text NOT NULL
) WITH (fillfactor = 50);

-- The process that extends the log.
CREATE TABLE log_lease (
  until timestamptz NOT NULL,
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  holder text NOT NULL
) WITH (fillfactor = 50);

-- Entries from first on, sorted by their bytes. They were committed below until_xid, and not below the next smaller
-- until_xid. Batches that were added after a move of the database have the range of an earlier batch.
CREATE TABLE log_batches (
  first bigint PRIMARY KEY,
  entries bigint NOT NULL,
  until_xid xid8 NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX log_batches_until ON log_batches (until_xid);

-- content: of level 0, entries of 48 bytes; of the others, hashes of 32 bytes. At most 256 of them.
CREATE TABLE log_tiles (
  number bigint NOT NULL,
  level integer NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (level, number)
);
ALTER TABLE log_tiles ALTER COLUMN content SET STORAGE EXTERNAL;

-- note: signed by the log and by its witnesses.
CREATE TABLE log_published (
  size bigint NOT NULL,
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  note text NOT NULL
) WITH (fillfactor = 50);

-- Statements of checkpoint files, which are entries of the log. hash: SHA-256 of the signed text.
CREATE TABLE log_statements (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  commit_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  hash bytea NOT NULL
);
CREATE UNIQUE INDEX log_statements_by_hash ON log_statements (hash);
CREATE INDEX log_statements_by_commit ON log_statements (commit_xid);
`
