/** Proofs of liabilities, and attestations. */
export const ASSERTIONS = `
-- Runs of the proof of liabilities. as_of: the time of the snapshot. used_at: the last time that the run was served; it is
-- kept for a day after that. merkle_root, document, used_at: null until the run is complete. document: sealed.
CREATE TABLE liability_runs (
  run_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  as_of timestamptz NOT NULL,
  size_bytes bigint NOT NULL DEFAULT 0,
  used_at timestamptz,
  merkle_root bytea CHECK (octet_length(merkle_root) = 32),
  document bytea
);
CREATE INDEX liability_runs_by_root ON liability_runs (merkle_root);

-- The source of inclusion proofs, sealed. kind: 0 the leaves of each account, 1 tiles of the trees.
CREATE TABLE liability_pages (
  run_id bigint NOT NULL,
  number integer NOT NULL CHECK (number >= 0),
  kind smallint NOT NULL CHECK (kind IN (0, 1)),
  -- Sealed bytes do not compress.
  page bytea STORAGE EXTERNAL NOT NULL,
  PRIMARY KEY (run_id, kind, number)
);

-- Edges write attestations: a row is inserted once and changed once, when it is revoked.
-- The ID begins with created_at, so that its order is the order of time; each filter leads an index, and the ID follows.
-- created_xid, revoked_xid: the PostgreSQL transactions that inserted and revoked it; a trigger sets the latter.
-- attester, idempotency_key: keyed hashes; the key is within the client that submitted. Each attestation has a data key of
-- its own, wrapped here and not in data_keys: edges need no right to write that table.
CREATE TABLE attestations (
  created_at timestamptz NOT NULL,
  revoked_at timestamptz,
  created_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  revoked_xid xid8,
  attestation_id text COLLATE "C" PRIMARY KEY,
  subject_class text COLLATE "C" NOT NULL,
  subject_instance text COLLATE "C" NOT NULL,
  attester text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('active', 'revoked')),
  submitted_by text COLLATE "C" NOT NULL,
  idempotency_key text COLLATE "C",
  master_key_id text COLLATE "C" NOT NULL,
  wrapped_key bytea NOT NULL,
  document bytea NOT NULL,
  CONSTRAINT attestations_revoked_whole CHECK ((status = 'revoked') = (revoked_at IS NOT NULL))
);
CREATE INDEX attestations_created ON attestations (created_xid);
CREATE INDEX attestations_revoked ON attestations (revoked_xid) WHERE revoked_xid IS NOT NULL;
CREATE FUNCTION ledger_note_revocation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.revoked_xid := pg_current_xact_id(); RETURN NEW; END $$;
CREATE TRIGGER attestations_revoked BEFORE INSERT OR UPDATE OF revoked_at ON attestations
  FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION ledger_note_revocation();
CREATE INDEX attestations_by_status ON attestations (status, attestation_id);
CREATE INDEX attestations_by_class ON attestations (subject_class, attestation_id);
CREATE INDEX attestations_by_instance ON attestations (subject_instance, attestation_id);
CREATE INDEX attestations_by_subject ON attestations (subject_class, subject_instance, attestation_id);
CREATE INDEX attestations_revocations ON attestations (subject_class, subject_instance, revoked_at, attestation_id)
  WHERE revoked_at IS NOT NULL;
CREATE INDEX attestations_by_attester ON attestations (attester, attestation_id);
CREATE UNIQUE INDEX attestations_by_key ON attestations (submitted_by, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
`
