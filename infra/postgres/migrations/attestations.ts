/** Attestations. */
export const ATTESTATIONS = `
-- What somebody states of an NFT. Edges write it: a row is inserted once and changed once, when it is revoked.
-- The ID begins with created_at, so that its order is the order of time; filters lead an index each, and the ID follows.
-- idempotency_key: within the client that submitted. payload_hash: of what it sent under the key.
CREATE TABLE attestations (
  attestation_id text COLLATE "C" PRIMARY KEY,
  subject_class text COLLATE "C" NOT NULL,
  subject_instance text COLLATE "C" NOT NULL,
  attester text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('active', 'revoked')),
  attestation_type text NOT NULL,
  statement text NOT NULL,
  evidence_url text,
  submitted_by text COLLATE "C" NOT NULL,
  attester_verified boolean NOT NULL,
  created_at timestamptz NOT NULL,
  key_id text NOT NULL,
  signature text NOT NULL,
  idempotency_key text COLLATE "C",
  payload_hash bytea CHECK (octet_length(payload_hash) = 32),
  revoked_at timestamptz,
  revoked_by text COLLATE "C",
  revocation_reason text,
  revocation_key_id text,
  revocation_signature text,
  CONSTRAINT attestations_key_has_payload CHECK ((idempotency_key IS NULL) = (payload_hash IS NULL)),
  CONSTRAINT attestations_revoked_whole CHECK (
    (status = 'revoked') = (revoked_at IS NOT NULL) AND (revoked_at IS NULL) = (revoked_by IS NULL)
    AND (revoked_at IS NULL) = (revocation_key_id IS NULL) AND (revoked_at IS NULL) = (revocation_signature IS NULL)
    AND (revoked_at IS NOT NULL OR revocation_reason IS NULL))
);
CREATE UNIQUE INDEX attestations_by_key ON attestations (submitted_by, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
CREATE INDEX attestations_by_status ON attestations (status, attestation_id);
CREATE INDEX attestations_by_class ON attestations (subject_class, attestation_id);
CREATE INDEX attestations_by_attester ON attestations (attester, attestation_id);
CREATE INDEX attestations_by_instance ON attestations (subject_instance, attestation_id);
CREATE INDEX attestations_by_subject ON attestations (subject_class, subject_instance, attestation_id);
CREATE INDEX attestations_revocations ON attestations (subject_class, subject_instance, revoked_at, attestation_id)
  WHERE revoked_at IS NOT NULL;
`
