/**
 * Rows whose content is sealed: what look-ups need stays a column, the rest is one text under a data key. A ledger that holds
 * data is rewritten here as one without encryption, which `ledger encrypt` turns into one with it, while it runs. The
 * settings that it takes the index secret from are made before it (prepare-privacy.ts).
 */
import {
  ACCOUNT_TEXT,
  accountRef,
  ATTESTATION_TEXT,
  BALANCE_TEXT,
  bytes,
  CLIENT_TEXT,
  CROSSING_TEXT,
  DROP_REFERENCE_FUNCTIONS,
  INDEX_SETTINGS,
  KEY_TEXT,
  keyRef,
  OPERATION_TEXT,
  REFERENCE_FUNCTIONS,
  TRANSACTION_TEXT,
} from './privacy-documents.ts'

/** `column`, which was an ID, becomes what stands for it. */
function becomesRef(column: string, ref = accountRef(column)): string {
  return `ALTER COLUMN ${column} TYPE text COLLATE "C" USING ${ref}`
}

function becomesBytes(column: string, text: string): string {
  return `ALTER COLUMN ${column} TYPE bytea USING ${bytes(text)}`
}

export const PRIVACY = `${REFERENCE_FUNCTIONS}
-- encryption: of the sealed texts; 'converting' while they are being sealed. sealed_index_secret: of the references, with or
-- without encryption. encrypted_shards: while it is converting, the shards below this number are sealed, and no others.
-- sealed_root_secret: null of a ledger that was made before there was one, until its master key is rotated.
ALTER TABLE ledger
  ADD COLUMN sealed_root_secret bytea,
  ADD COLUMN encryption text NOT NULL DEFAULT 'off' CHECK (encryption IN ('on', 'converting', 'off')),
  ADD COLUMN encrypted_shards integer NOT NULL DEFAULT 0,
  ADD COLUMN sealed_index_secret bytea;
UPDATE ledger SET sealed_index_secret = decode(current_setting('${INDEX_SETTINGS}.sealed'), 'hex');
ALTER TABLE ledger ALTER COLUMN sealed_index_secret SET NOT NULL;

-- erased: its data key was destroyed, its document is under the shard's. There are few.
ALTER TABLE accounts DROP CONSTRAINT accounts_status_check,
  ADD CONSTRAINT accounts_status_check CHECK (status IN ('active', 'frozen', 'closed', 'erased'));
CREATE INDEX accounts_erased ON accounts (account_id) WHERE status = 'erased';

-- Wrapped under the master key. scope: what the key belongs to; ref: which one of those.
CREATE TABLE data_keys (
  shard_id integer NOT NULL,
  scope text COLLATE "C" NOT NULL CHECK (scope IN ('account', 'class', 'shard', 'ledger')),
  ref text COLLATE "C" NOT NULL,
  master_key_id text COLLATE "C" NOT NULL,
  wrapped bytea NOT NULL,
  PRIMARY KEY (scope, ref)
);

-- From here on account_id is what stands for the ID (a keyed hash), in every table. document: what is sealed.
ALTER TABLE accounts ADD COLUMN document bytea;
ALTER TABLE accounts ${becomesRef('account_id')}, ${becomesBytes('document', ACCOUNT_TEXT)},
  ALTER COLUMN document SET NOT NULL;
ALTER TABLE accounts
  DROP COLUMN incoming, DROP COLUMN key_id, DROP COLUMN public_key, DROP COLUMN registered_by, DROP COLUMN last_time;
ALTER TABLE account_keys ADD COLUMN document bytea;
ALTER TABLE account_keys ${becomesRef('account_id')}, ${becomesBytes('document', KEY_TEXT)},
  ALTER COLUMN document SET NOT NULL;
ALTER TABLE account_keys DROP COLUMN key_id, DROP COLUMN public_key;
ALTER TABLE balances ADD COLUMN document bytea;
ALTER TABLE balances ${becomesRef('account_id')}, ${becomesBytes('document', BALANCE_TEXT)},
  ALTER COLUMN document SET NOT NULL;
ALTER TABLE balances DROP COLUMN balance, DROP COLUMN reserved, DROP COLUMN incoming, DROP COLUMN room;
ALTER TABLE audit_entries ${becomesRef('account_id')}, ${becomesBytes('payload', 'payload')};

-- outcome: how it ended, if that came after it was entered. amount_bucket: stands for the amount's magnitude.
-- The indexes are made again in this order: of those that promise equally little the planner takes the newest.
DROP INDEX transactions_by_key, transactions_by_group_use;
ALTER TABLE transactions
  DROP CONSTRAINT transactions_final_has_receipt,
  ADD COLUMN amount_bucket integer,
  ADD COLUMN document bytea,
  ADD COLUMN outcome bytea;
ALTER TABLE transactions
  ${becomesRef('account_id')}, ${becomesRef('idempotency_key', keyRef('account_id', 'idempotency_key'))},
  ALTER COLUMN amount_bucket TYPE integer USING pg_temp.bucket(quantity), ALTER COLUMN amount_bucket SET NOT NULL,
  ${becomesBytes('document', TRANSACTION_TEXT)}, ALTER COLUMN document SET NOT NULL;
ALTER TABLE transactions
  DROP COLUMN amount, DROP COLUMN quantity, DROP COLUMN failure_detail, DROP COLUMN metadata, DROP COLUMN payload,
  DROP COLUMN payload_hash, DROP COLUMN signature, DROP COLUMN key_id,
  DROP COLUMN receipt_signature, DROP COLUMN to_account_id, DROP COLUMN from_account_id, DROP COLUMN details,
  ADD CONSTRAINT transactions_final_has_receipt CHECK (
    (status = 'pending') = (processed_at IS NULL) AND (status = 'pending') = (receipt_key_id IS NULL)
    AND (outcome IS NULL OR status <> 'pending'));
CREATE UNIQUE INDEX transactions_by_key ON transactions (shard_id, account_id, idempotency_key);
CREATE INDEX transactions_by_group_use ON transactions (shard_id, account_id, group_id, type, token_id)
  WHERE group_id IS NOT NULL AND origin = 'client';

ALTER TABLE operations ADD COLUMN document bytea;
ALTER TABLE operations
  ${becomesRef('account_id')}, ${becomesRef('idempotency_key', keyRef('account_id', 'idempotency_key'))},
  ${becomesBytes('document', OPERATION_TEXT)}, ALTER COLUMN document SET NOT NULL;
ALTER TABLE operations DROP COLUMN payload_hash, DROP COLUMN key_id, DROP COLUMN answer;
-- That of an NFT which is being minted is named after the client's key.
ALTER TABLE holds ${becomesRef('account_id')}, ${becomesBytes('document', 'document')},
  ${becomesRef(
    'hold_id',
    `CASE WHEN starts_with(hold_id, 'mint ') THEN 'mint ' || ${keyRef('account_id', 'substr(hold_id, 6)')} ELSE hold_id END`,
  )};
ALTER TABLE holds DROP COLUMN token_id, DROP COLUMN value;
ALTER TABLE actors ${becomesBytes('document', 'document')}, ${becomesRef('issuer')}, ${becomesRef('owner')};
ALTER TABLE nft_events ${becomesBytes('payload', 'payload')},
  ${becomesRef('from_account_id')}, ${becomesRef('to_account_id')};
ALTER TABLE outbox ${becomesBytes('message', 'message')};
ALTER TABLE outbox DROP COLUMN receiver, DROP COLUMN carries;

-- attester is a reference, too; so is idempotency_key. Each has a data key of its own, wrapped beside it and not among the
-- data keys: edges, who write attestations, need no right to write there. Both are null without encryption.
ALTER TABLE attestations
  DROP CONSTRAINT attestations_key_has_payload, DROP CONSTRAINT attestations_revoked_whole,
  ADD COLUMN document bytea;
ALTER TABLE attestations
  ${becomesRef('attester')}, ${becomesRef('idempotency_key', keyRef('submitted_by', 'idempotency_key'))},
  ${becomesBytes('document', ATTESTATION_TEXT)}, ALTER COLUMN document SET NOT NULL;
ALTER TABLE attestations
  DROP COLUMN attestation_type, DROP COLUMN statement, DROP COLUMN evidence_url, DROP COLUMN attester_verified,
  DROP COLUMN key_id, DROP COLUMN signature, DROP COLUMN payload_hash, DROP COLUMN revoked_by,
  DROP COLUMN revocation_reason, DROP COLUMN revocation_key_id, DROP COLUMN revocation_signature,
  ADD COLUMN master_key_id text COLLATE "C",
  ADD COLUMN wrapped_key bytea,
  ADD CONSTRAINT attestations_key_whole CHECK ((master_key_id IS NULL) = (wrapped_key IS NULL)),
  ADD CONSTRAINT attestations_revoked_whole CHECK ((status = 'revoked') = (revoked_at IS NOT NULL));

-- held is never written: an edge that begins a session holds the client's row, and for that it needs the right to change some
-- column. What decides who may what is all in the document.
ALTER TABLE clients ADD COLUMN document bytea, ADD COLUMN held boolean;
ALTER TABLE clients ${becomesBytes('document', CLIENT_TEXT)}, ALTER COLUMN document SET NOT NULL;
ALTER TABLE clients DROP COLUMN secret_hash, DROP COLUMN role, DROP COLUMN boundary, DROP COLUMN created_at;

-- Value that came in from outside the ledger and left it, a row a commit: sums would have to be readable to be added to.
-- shards: those of the commit that its fence let pass; what the document says of others did not happen.
CREATE TABLE boundary_crossings (
  session text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  shards integer[] NOT NULL,
  document bytea NOT NULL,
  PRIMARY KEY (session, number)
);
INSERT INTO boundary_crossings (session, number, shards, document)
SELECT session, -row_number() OVER (PARTITION BY session ORDER BY token_id), '{0}', ${bytes(CROSSING_TEXT)}
  FROM boundary_totals;
DROP TABLE boundary_totals;

-- Which entries all chains had, every minute; thinned out as it grows old. statement: as it was signed.
-- sums: of each shard, sealed; the next checkpoint goes on from them.
CREATE TABLE checkpoints (
  number bigint PRIMARY KEY,
  level text NOT NULL CHECK (level IN ('minute', 'hour', 'day')),
  signed_at timestamptz NOT NULL,
  statement text NOT NULL,
  signature text NOT NULL,
  sums bytea NOT NULL
);
${DROP_REFERENCE_FUNCTIONS}`
