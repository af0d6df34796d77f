/**
 * What rows of a ledger that was made before they were sealed become: the texts that `accountText`, `balanceText` and the
 * others write, made by the server of the columns that held the same, and references in place of IDs.
 *   W1. Texts that clients signed, and all JSON that stands in a column, go in as they are: the server never reads it, for it
 *       would refuse a \\u0000 and write numbers in another way.
 *   W2. One pass over each table, in the memory that one row takes.
 *   W3. The keys that references are made with are settings of this transaction alone: they stand in no statement.
 */

/** Of the settings with the keys: `<use>_inner`, `<use>_outer` (the blocks of HMAC), and the sealed secret itself. */
export const INDEX_SETTINGS = 'ledger_index'

/** As blind-index.ts makes references: HMAC-SHA-256 of RFC 2104, cut to 16 bytes, in base64url. */
export const REFERENCE_FUNCTIONS = `
CREATE FUNCTION pg_temp.keyed(purpose text, message text) RETURNS bytea LANGUAGE sql STABLE AS $$
SELECT sha256(decode(current_setting('${INDEX_SETTINGS}.' || purpose || '_outer'), 'hex')
           || sha256(decode(current_setting('${INDEX_SETTINGS}.' || purpose || '_inner'), 'hex')
                  || convert_to(message, 'UTF8')))
$$;
CREATE FUNCTION pg_temp.keyed_text(purpose text, message text) RETURNS text LANGUAGE sql STABLE AS $$
SELECT rtrim(translate(encode(substr(pg_temp.keyed(purpose, message), 1, 16), 'base64'), '+/', '-_'), '=')
$$;
-- The power of ten of its first digit that is not 0; -19 of 0.
CREATE FUNCTION pg_temp.magnitude(amount numeric) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
SELECT CASE
  WHEN amount = 0 THEN -19
  WHEN amount >= 1 THEN length(trunc(amount)::text) - 1
  ELSE length(ltrim(split_part(amount::text, '.', 2), '0')) - length(split_part(amount::text, '.', 2)) - 1 END
$$;
CREATE FUNCTION pg_temp.bucket(amount numeric) RETURNS integer LANGUAGE sql STABLE AS $$
SELECT ('x' || encode(substr(pg_temp.keyed('bucket', pg_temp.magnitude(amount)::text), 1, 4), 'hex'))::bit(32)::integer
$$;
`

export const DROP_REFERENCE_FUNCTIONS = `
DROP FUNCTION pg_temp.bucket(numeric), pg_temp.magnitude(numeric), pg_temp.keyed_text(text, text), pg_temp.keyed(text, text);
`

export function accountRef(column: string): string {
  return `pg_temp.keyed_text('account', ${column})`
}

export function keyRef(owner: string, key: string): string {
  return `pg_temp.keyed_text('key', ${owner} || E'\\x1f' || ${key})`
}

/** A string of JSON, or null. */
function string(expression: string): string {
  return `coalesce(to_json((${expression})::text)::text, 'null')`
}

/** Milliseconds since 1970, or null. */
function time(column: string): string {
  return `coalesce(floor(extract(epoch FROM ${column}) * 1000)::bigint::text, 'null')`
}

function hash(column: string): string {
  return string(`encode(${column}, 'hex')`)
}

function number(column: string): string {
  return `coalesce(${column}::text, 'null')`
}

/** In the minimal form: no zeros at the end. */
function quantity(column: string): string {
  return string(`trim_scale(${column})`)
}

/** Of what stands as JSON in a column of its own. */
function json(column: string): string {
  return `coalesce(${column}, 'null')`
}

function object(members: Readonly<Record<string, string>>): string {
  const parts = Object.entries(members).map(([name, value], index) => `'${index === 0 ? '' : ','}"${name}":', ${value}`)
  return `concat('{', ${parts.join(', ')}, '}')`
}

function objectIf(condition: string, members: Readonly<Record<string, string>>): string {
  return `CASE WHEN ${condition} THEN ${object(members)} ELSE 'null' END`
}

export function bytes(text: string): string {
  return `convert_to(${text}, 'UTF8')`
}

export const ACCOUNT_TEXT = object({
  accountId: string('account_id'),
  status: string('status'),
  incoming: string('incoming'),
  key: objectIf('key_id IS NOT NULL AND public_key IS NOT NULL', {
    keyId: string('key_id'),
    publicKey: string('public_key'),
  }),
  sequence: number('sequence'),
  tip: hash('tip'),
  nftCount: number('nft_count'),
  nftRoom: number('nft_room'),
  completedCount: number('completed_count'),
  failedCount: number('failed_count'),
  registeredBy: string('registered_by'),
  createdAtMs: time('created_at'),
  updatedAtMs: time('updated_at'),
  lastTimeMs: time('last_time'),
  parts: `'""'`,
})

export const KEY_TEXT = object({ keyId: string('key_id'), publicKey: string('public_key') })

export const BALANCE_TEXT = `concat('[', ${['balance', 'reserved', 'incoming', 'room']
  .map(quantity)
  .join(`, ',', `)}, ',', ${time('updated_at')}, ']')`

/** Members of `details` name what the ledger itself made: the server may read it. */
function detail(member: string): string {
  return json(`(details::json -> '${member}')::text`)
}

export const TRANSACTION_TEXT = object({
  transaction: object({
    txnId: string('txn_id'),
    accountId: string('account_id'),
    shardId: number('shard_id'),
    type: string('type'),
    amount: string('amount'),
    tokenId: string('token_id'),
    groupId: string('group_id'),
    status: string('status'),
    failure: objectIf('failure_code IS NOT NULL', {
      code: string('failure_code'),
      detail: string(`coalesce(failure_detail, '')`),
    }),
    origin: string('origin'),
    metadata: json('metadata'),
    toAccountId: string('to_account_id'),
    fromAccountId: string('from_account_id'),
    receive: detail('receive'),
    compensates: detail('compensates'),
    counterTxnId: detail('counterTxnId'),
    createdAtMs: time('created_at'),
    processedAtMs: time('processed_at'),
    sequence: number('sequence'),
    previousHash: hash('previous_hash'),
    auditHash: hash('audit_hash'),
    idempotencyKey: string('idempotency_key'),
    payloadHash: hash('payload_hash'),
    keyId: string('key_id'),
    payload: string('payload'),
    signature: string('signature'),
  }),
  receipt: objectIf('receipt_key_id IS NOT NULL', {
    keyId: string('receipt_key_id'),
    signature: string('receipt_signature'),
  }),
})

export const OPERATION_TEXT = object({
  idempotencyKey: string('idempotency_key'),
  payloadHash: hash('payload_hash'),
  keyId: string('key_id'),
  answer: 'answer',
})

export const ATTESTATION_TEXT = object({
  format: `'1'`,
  attestation: object({
    attestationId: string('attestation_id'),
    attester: string('attester'),
    subjectClass: string('subject_class'),
    subjectInstance: string('subject_instance'),
    attestationType: string('attestation_type'),
    statement: string('statement'),
    evidenceUrl: string('evidence_url'),
    submittedBy: string('submitted_by'),
    attesterVerified: number('attester_verified'),
    createdAtMs: time('created_at'),
    seal: object({ keyId: string('key_id'), signature: string('signature') }),
    revocation: objectIf('revoked_at IS NOT NULL', {
      atMs: time('revoked_at'),
      by: string('revoked_by'),
      reason: string('revocation_reason'),
      seal: object({ keyId: string('revocation_key_id'), signature: string('revocation_signature') }),
    }),
  }),
  submission: objectIf('idempotency_key IS NOT NULL', {
    idempotencyKey: string('idempotency_key'),
    payloadHash: hash('payload_hash'),
  }),
})

/** Of a client that is not scoped: there were no others. */
export const CLIENT_TEXT = object({
  format: `'1'`,
  clientId: string('client_id'),
  secretHash: string('secret_hash'),
  role: string('role'),
  boundary: 'boundary::text',
  accounts: `'null'`,
  createdAtMs: time('created_at'),
  revokedAtMs: time('revoked_at'),
})

/** Of a session and a token, as if it had all crossed in one commit of shard 0. */
export const CROSSING_TEXT = `concat('[[0,[', ${object({
  tokenId: string('token_id'),
  credited: quantity('credited'),
  debited: quantity('debited'),
})}, ']]]')`
