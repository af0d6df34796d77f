/** Proofs of liabilities, and keys that were revoked. */
export const ASSERTIONS = `
-- Not null: nothing that the key ever signed counts any more.
ALTER TABLE service_keys ADD COLUMN revoked_at timestamptz;

-- Runs of the proof of liabilities. as_of: the moment of the snapshot. used_at: when it was last given to somebody; a run
-- is kept for a day after that. merkle_root, document, used_at: null until it is complete. document: sealed.
CREATE TABLE liability_runs (
  run_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  as_of timestamptz NOT NULL,
  merkle_root bytea CHECK (octet_length(merkle_root) = 32),
  document bytea,
  size_bytes bigint NOT NULL DEFAULT 0,
  used_at timestamptz
);
CREATE INDEX liability_runs_by_root ON liability_runs (merkle_root);

-- What inclusion proofs are read from, sealed: 0 who has which leaves, 1 tiles of the trees.
CREATE TABLE liability_pages (
  run_id bigint NOT NULL,
  kind smallint NOT NULL CHECK (kind IN (0, 1)),
  number integer NOT NULL CHECK (number >= 0),
  page bytea NOT NULL,
  PRIMARY KEY (run_id, kind, number)
);
-- Sealed bytes do not get smaller.
ALTER TABLE liability_pages ALTER COLUMN page SET STORAGE EXTERNAL;
`
