/**
 * The lines of an export (D20): one record a line, in canonical JSON (RFC 8785), each with its number and the hash of the
 * line before, which locates a changed, lost or moved line. The last line is the proof.
 * An import validates them. A record is signed: an unknown member is refused. A refusal lists all problems of the record.
 */
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import type { ReadPublicKey } from '../../../runtime/ports/public-keys.ts'
import { MAX_USED_KEYS } from '../../../actors/arrival.ts'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import { isAccountId, isAttester, isPrintable, isTransactionId } from '../../../actors/identifiers.ts'
import { fractionalDigits, isDecimalString, parseQuantity } from '../../../actors/money.ts'
import { isClassId } from '../../../actors/nft-id.ts'
import { parseTimestamp } from '../../../actors/timestamp.ts'
import type { ErrorCode, Invalid } from '../../http/problem.ts'
import { ACCOUNT_ID_RULE, ATTESTER_RULE, codePoints, isTokenId, TOKEN_ID_RULE } from '../fields.ts'
import { FIELD_CODES, objectMessage, schemaErrors } from '../../http/invalid.ts'
import { isRecord } from '../../../actors/shapes.ts'

export const EXPORT_FORMAT = 1
export const PROOF_SYSTEM = 'ecdsa-p256-sha256' as const

/** `previous_hash` of the first line. */
export const NO_LINE = `sha256:${'0'.repeat(64)}`

/** Order of kinds in the file. Accounts and their used keys alternate. */
export const RANKS = {
  ledger: 0,
  token: 1,
  nft_class: 2,
  nft_instance: 3,
  attestation: 4,
  account: 5,
  used_keys: 5,
  proof: 6,
} as const
export type RecordKind = keyof typeof RANKS
export const RECORD_KINDS = Object.keys(RANKS) as readonly RecordKind[]

/** Error codes of fields that only records have. */
export const RECORD_CODES: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ...FIELD_CODES,
  ['initial_supply', 'ERR_INVALID_INITIAL_SUPPLY'],
  ['balances', 'ERR_INVALID_BALANCE'],
  ['encrypted_balance', 'ERR_INVALID_BALANCE'],
  ['created_at', 'ERR_INVALID_CREATED_AT'],
  ['updated_at', 'ERR_INVALID_UPDATED_AT'],
  ['timestamp', 'ERR_INVALID_TIMESTAMP'],
  ['exported_at', 'ERR_INVALID_TIMESTAMP'],
  ['minted_at', 'ERR_INVALID_TIMESTAMP'],
  ['acquired_at', 'ERR_INVALID_TIMESTAMP'],
  ['imported_at', 'ERR_INVALID_TIMESTAMP'],
  ['revoked_at', 'ERR_INVALID_TIMESTAMP'],
  ['proof_system', 'ERR_INVALID_PROOF_SYSTEM'],
  ['proof_hash', 'ERR_INVALID_PROOF_HASH'],
  ['from', 'ERR_INVALID_ACCOUNT_ID'],
  ['to', 'ERR_INVALID_ACCOUNT_ID'],
])

const MAX_DECIMALS = 18
const MAX_BALANCES = 10_000
const MAX_HISTORY = 10_000
const HASH_RULE = 'must be sha256: and 64 hexadecimal digits'
const TIME_RULE = 'must be RFC 3339 with an offset'
const SUPPLY_RULE = 'must be a decimal string, zero or above, with at most 18 integer and 18 fractional digits'
const COUNT_RULE = 'must be a whole number, zero or above'
const CLASS_RULE = 'must be the ID of an NFT class'
const JWE_RULE = 'must be a compact JWE of at most 2,048 characters'
const KEY_RULE = 'must be a P-256 public key as a JWK without a private part, or null'

function checked(rule: string, holds: (text: string) => boolean) {
  return v.pipe(v.string(rule), v.check(holds, rule))
}

function textOf(least: number, most: number) {
  const rule = `must be ${least} to ${most.toLocaleString('en')} characters`
  return checked(rule, (text) => text.length >= least && codePoints(text) <= most)
}

function oneOf<const T extends readonly string[]>(values: T) {
  return v.picklist(values, `must be ${values.join(' or ')}`)
}

const hash = checked(HASH_RULE, (text) => /^sha256:[0-9a-f]{64}$/.test(text))
const time = checked(TIME_RULE, (text) => parseTimestamp(text) !== undefined)
const accountId = checked(ACCOUNT_ID_RULE, isAccountId)
const classId = checked(CLASS_RULE, isClassId)
const supply = checked(SUPPLY_RULE, isDecimalString)
const count = v.pipe(v.number(COUNT_RULE), v.safeInteger(COUNT_RULE), v.minValue(0, COUNT_RULE))
const jwe = checked(JWE_RULE, (text) => text.length <= 2_048 && /^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/.test(text))
const base64Hash = checked('must be 32 bytes in base64', (text) => /^[A-Za-z0-9+/]{43}=$/.test(text))
const anyObject = v.custom<JsonObject>(isRecord, 'must be an object')
const ledgerId = checked('must be the ID of a ledger', (text) => /^[\x21-\x7e]{1,128}$/.test(text))
const keyId = checked('must be the thumbprint of a key', (text) => /^[\w-]{43}$/.test(text))
const signature = checked('must be a signature as DER in base64', (text) => /^[A-Za-z0-9+/]{80,100}={0,2}$/.test(text))

const lineEntries = {
  /** From 0. */
  line: count,
  /** `lineHash` of the line before. */
  previous_hash: hash,
}

function recordOf<const K extends RecordKind, E extends v.ObjectEntries>(kind: K, entries: E) {
  return v.strictObject({ ...lineEntries, record: v.literal(kind), ...entries }, objectMessage)
}

/** As GET /v1/attestations/{id} shows it, with the signature of the exporting ledger. */
const attestationMembers = v.strictObject(
  {
    attestation_id: checked('must be the ID of an attestation', (text) =>
      /^att_[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text),
    ),
    attester: checked(ATTESTER_RULE, isAttester),
    subject_class: classId,
    subject_instance: accountId,
    attestation_type: v.pipe(textOf(1, 64), v.check(isPrintable, 'must be printable')),
    statement: textOf(1, 4_096),
    evidence_url: v.exactOptional(textOf(1, 2_048)),
    created_at: time,
    status: oneOf(['active', 'revoked']),
    // A client, or a ledger that it came from.
    submitted_by: textOf(1, 256),
    attester_verified: v.boolean('must be true or false'),
    imported_at: v.exactOptional(time),
    revoked_at: v.exactOptional(time),
    revoked_by: v.exactOptional(textOf(1, 128)),
    revocation_reason: v.exactOptional(textOf(1, 1_024)),
    key_id: keyId,
    signature,
  },
  objectMessage,
)

const event = v.strictObject(
  {
    type: oneOf(['mint', 'transfer', 'burn']),
    from: v.nullable(accountId),
    to: accountId,
    txn_id: checked('must be the ID of a transaction', isTransactionId),
    timestamp: time,
    previous_hash: hash,
    event_hash: hash,
    /** The exact string that was hashed: event_hash = SHA-256(previous hash || SHA-256(payload)). */
    payload: textOf(2, 8_192),
  },
  objectMessage,
)

const RECORD_SCHEMAS = {
  ledger: recordOf('ledger', {
    format: v.literal(EXPORT_FORMAT, `must be ${EXPORT_FORMAT}`),
    ledger_id: ledgerId,
    audience: ledgerId,
    mode: oneOf(['copy', 'move']),
    /** Whether accounts were left out. */
    partial: v.boolean('must be true or false'),
    /** The moment of the whole content. */
    exported_at: time,
    /** JWE to the receiver: 32 hexadecimal digits, the salt of the hashes of used keys. */
    encrypted_key_salt: jwe,
    /** The head of the ledger's log that was published at that moment: a signed note of C2SP. */
    log_head: v.exactOptional(textOf(1, 65_536)),
  }),
  token: recordOf('token', {
    symbol: checked(TOKEN_ID_RULE, isTokenId),
    decimals: v.pipe(
      v.number(COUNT_RULE),
      v.check((value) => isDecimals(value), 'must be a whole number from 0 to 18'),
    ),
    issuer: accountId,
    initial_supply: supply,
    total_supply: supply,
    created_at: time,
  }),
  nft_class: recordOf('nft_class', {
    class_id: classId,
    name: textOf(1, 256),
    description: textOf(0, 4_096),
    issuer: accountId,
    metadata_schema: anyObject,
    created_at: time,
  }),
  nft_instance: recordOf('nft_instance', {
    class_id: classId,
    instance_id: accountId,
    /** Of a burned instance, the last owner. */
    owner: accountId,
    status: oneOf(['active', 'burned']),
    metadata: anyObject,
    minted_at: time,
    acquired_at: time,
    /** Complete, oldest event first. */
    history: v.pipe(
      v.array(event, 'must be a list'),
      v.minLength(1, 'must have the mint'),
      v.maxLength(MAX_HISTORY, `must have at most ${MAX_HISTORY} entries`),
    ),
  }),
  attestation: recordOf('attestation', { attestation: attestationMembers }),
  account: recordOf('account', {
    account_id: accountId,
    status: oneOf(['active', 'frozen', 'closed']),
    incoming: oneOf(['accept', 'refuse']),
    public_key: v.nullable(v.custom<JsonObject>(isRecord, KEY_RULE)),
    /** `encrypted_balance`: compact JWE (ECDH-ES, A256GCM) of `balanceText`. Balances of zero are left out. */
    balances: v.pipe(
      v.array(
        v.strictObject({ token_id: checked(TOKEN_ID_RULE, isTokenId), encrypted_balance: jwe }, objectMessage),
        'must be a list',
      ),
      v.maxLength(MAX_BALANCES, `must have at most ${MAX_BALANCES} entries`),
    ),
    /** Number of completed transactions. */
    txn_count: count,
    /** Last hash of the account's chain. */
    audit_hash: hash,
    /** That the log has that entry, under `log_head`: hashes from the leaf's sibling up. */
    log_proof: v.exactOptional(
      v.strictObject(
        {
          salt: base64Hash,
          index: count,
          hashes: v.pipe(v.array(base64Hash, 'must be a list'), v.maxLength(64, 'must have at most 64 entries')),
        },
        objectMessage,
      ),
    ),
    created_at: time,
    updated_at: time,
  }),
  /** Hashes of the used idempotency keys (`usedKeyHash`) of the account before it, with `part` from 0. */
  used_keys: recordOf('used_keys', {
    account_id: accountId,
    part: count,
    hashes: v.pipe(
      v.array(
        checked('must be a hash of a used key', (text) => /^[\w-]{43}$/.test(text)),
        'must be a list',
      ),
      v.minLength(1, 'must not be empty'),
      v.maxLength(MAX_USED_KEYS, `must have at most ${MAX_USED_KEYS} entries`),
    ),
  }),
  proof: recordOf('proof', {
    ledger_id: ledgerId,
    audience: ledgerId,
    timestamp: time,
    requester: textOf(1, 256),
    proof_system: v.literal(PROOF_SYSTEM, `must be ${PROOF_SYSTEM}`),
    /** Over all lines before, each with its line feed. */
    proof_hash: hash,
    /** An assertion key of the exporting ledger. */
    key_id: keyId,
    /** Over the canonical JSON of this record without it. */
    signature,
  }),
} as const satisfies Record<RecordKind, v.GenericSchema>

type RecordOf<K extends RecordKind> = v.InferOutput<(typeof RECORD_SCHEMAS)[K]>
export type LedgerRecord = RecordOf<'ledger'>
export type TokenRecord = RecordOf<'token'>
export type ClassRecord = RecordOf<'nft_class'>
export type InstanceRecord = RecordOf<'nft_instance'>
export type EventRecord = InstanceRecord['history'][number]
export type AttestationRecord = RecordOf<'attestation'>
export type ExportedAttestation = AttestationRecord['attestation']
export type AccountRecord = RecordOf<'account'>
export type UsedKeysRecord = RecordOf<'used_keys'>
export type ProofRecord = RecordOf<'proof'>
export type ExportRecord = RecordOf<RecordKind>

/** `sha256:` and 64 hexadecimal digits. `line`: without its line feed. */
export function lineHash(line: string): string {
  return `sha256:${createHash('sha256').update(line, 'utf8').digest('hex')}`
}

/** The longest account ID, token ID and balance, with room. All of it is ASCII. */
const BALANCE_TEXT_LENGTH = 320

/**
 * The plaintext of an encrypted balance. It names account and token, so it cannot pass for another, and has a fixed length,
 * so its length reveals nothing.
 */
export function balanceText(accountId: string, tokenId: string, balance: string): string {
  return canonicalJson({ account_id: accountId, balance, token_id: tokenId }).padEnd(BALANCE_TEXT_LENGTH, ' ')
}

/** Undefined: the member with the kind of the record is missing, or has an unknown kind. */
export function recordKindOf(record: JsonObject): RecordKind | undefined {
  return RECORD_KINDS.find((kind) => kind === record['record'])
}

/** All problems with the shape of one record. `prefix`: its place in the request, as `records[3]`. */
export function recordErrors(record: JsonObject, prefix: string, readPublicKey: ReadPublicKey): readonly Invalid[] {
  const kind = recordKindOf(record)
  if (kind === undefined) {
    const message = `must be ${RECORD_KINDS.join(', ')}`
    return [{ field: `${prefix}.record`, code: 'ERR_INVALID_FIELD', message }]
  }
  const invalid = schemaErrors(RECORD_SCHEMAS[kind], record, RECORD_CODES)
  const add = (field: string, code: ErrorCode, message: string): void => {
    if (invalid.every((one) => one.field !== field)) invalid.push({ field, code, message })
  }
  if (kind === 'token') supplyErrors(record, add)
  if (kind === 'account') accountErrors(record, readPublicKey, add)
  if (kind === 'attestation') attestationErrors(record, add)
  return invalid.map((one) => ({ ...one, field: `${prefix}.${one.field}` }))
}

type Add = (field: string, code: ErrorCode, message: string) => void

/** Of fields that are good by themselves. */
function supplyErrors(record: JsonObject, add: Add): void {
  const { decimals } = record
  if (typeof decimals !== 'number' || !isDecimals(decimals)) return
  for (const field of ['initial_supply', 'total_supply']) {
    const value = record[field]
    if (typeof value !== 'string' || !isDecimalString(value)) continue
    if (fractionalDigits(parseQuantity(value)) <= decimals) continue
    add(field, RECORD_CODES.get(field) ?? 'ERR_INVALID_FIELD', 'has more fractional digits than decimals')
  }
}

function accountErrors(record: JsonObject, readPublicKey: ReadPublicKey, add: Add): void {
  const { public_key: key, created_at: created, updated_at: updated, balances } = record
  if (key !== null && key !== undefined && readPublicKey(key) === undefined) {
    add('public_key', 'ERR_INVALID_PUBLIC_KEY', KEY_RULE)
  }
  if (timeOf(updated) < timeOf(created)) add('updated_at', 'ERR_INVALID_UPDATED_AT', 'must not be before created_at')
  if (!Array.isArray(balances)) return
  const seen = new Set<unknown>()
  for (const [index, balance] of (balances as readonly unknown[]).entries()) {
    if (!isRecord(balance)) continue
    const { token_id: tokenId } = balance as { readonly token_id?: unknown }
    if (seen.has(tokenId)) add(`balances[${index}].token_id`, 'ERR_INVALID_TOKEN_ID', 'is listed twice')
    seen.add(tokenId)
  }
}

function attestationErrors({ attestation }: JsonObject, add: Add): void {
  if (!isRecord(attestation)) return
  const { attester, attester_verified: verified, status, revoked_at: at, revoked_by: by } = attestation
  if (verified === true && typeof attester === 'string' && !isAccountId(attester)) {
    add('attestation.attester_verified', 'ERR_INVALID_FIELD', 'must be false unless the attester is an account')
  }
  const revoked = status === 'revoked'
  for (const [field, value] of Object.entries({ revoked_at: at, revoked_by: by })) {
    if (revoked === (value !== undefined)) continue
    const code = RECORD_CODES.get(field) ?? 'ERR_INVALID_FIELD'
    add(`attestation.${field}`, code, revoked ? 'is required' : 'must not be there of an active attestation')
  }
}

/** NaN when it is none: it compares to nothing. */
function timeOf(value: unknown): number {
  return (typeof value === 'string' ? parseTimestamp(value) : undefined) ?? Number.NaN
}

function isDecimals(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MAX_DECIMALS
}
