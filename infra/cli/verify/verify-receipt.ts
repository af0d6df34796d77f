/**
 * Checks a receipt offline:
 *   W1. Its signature verifies under the key that it names, which is in the JWKS, has the purpose `receipt`, is not
 *       revoked, and whose span covers `processed_at`, but for the slack that the auditor gives it too.
 *   W2. What it says of the chain is what the chain's own entry says, where the chain is at hand.
 */
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import { showHash } from '../../../actors/audit-chain.ts'
import { parseTimestamp } from '../../../actors/timestamp.ts'
import { RECEIPT_SLACK_MS } from '../../audit/receipt-check.ts'
import { verifiesText } from '../../keys/service-signature.ts'
import type { CheckedChain, CheckedEntry } from './verify-chain.ts'

export interface GivenReceipt {
  readonly receipt: JsonObject
  /** DER in base64. */
  readonly signature: string
}

export interface ReceiptKey {
  readonly keyId: string
  readonly purpose: string
  readonly x: string
  readonly y: string
  readonly activeFromMs: number
  readonly retiredAtMs: number | null
  readonly revokedAtMs: number | null
}

export interface ReceiptKeys {
  /** Of the file that they are from, for messages. */
  readonly name: string
  /** The ledger whose keys these are, where the document says so. */
  readonly ledgerId: string | undefined
  readonly keys: readonly ReceiptKey[]
}

/** Fields that a receipt and its entry in the chain share, word for word. */
const SHARED_FIELDS = ['account_id', 'shard_id', 'type', 'amount', 'token_id', 'origin', 'created_at', 'processed_at']

/** Why the receipt is not good; undefined when it is. `chain`: of the receipt's account, if it is at hand. */
export function problemOfReceipt(
  given: GivenReceipt,
  keys: ReceiptKeys,
  chain: CheckedChain | undefined,
): string | undefined {
  return problemOfSignature(given, keys) ?? (chain === undefined ? undefined : problemOfPlace(given.receipt, chain))
}

function problemOfSignature(given: GivenReceipt, { ledgerId, keys }: ReceiptKeys): string | undefined {
  if (ledgerId !== undefined && given.receipt['ledger_id'] !== ledgerId) return 'it is of another ledger than the JWKS'
  const keyId = given.receipt['key_id']
  const key = keys.find((candidate) => candidate.keyId === keyId)
  if (key === undefined) return 'the key that it names is not in the JWKS'
  if (key.purpose !== 'receipt') return `the key that it names is for another purpose (${key.purpose})`
  if (key.revokedAtMs !== null) return 'the key that it names is revoked'
  const processedAt = given.receipt['processed_at']
  const atMs = typeof processedAt === 'string' ? parseTimestamp(processedAt) : undefined
  if (atMs === undefined) return 'it has no processed_at'
  const { activeFromMs, retiredAtMs } = key
  if (atMs < activeFromMs - RECEIPT_SLACK_MS || (retiredAtMs !== null && atMs > retiredAtMs + RECEIPT_SLACK_MS)) {
    return 'the key that it names was not in use at its processed_at'
  }
  return verifiesText(key, canonicalJson(given.receipt), given.signature) ? undefined : 'its signature does not verify'
}

function problemOfPlace(receipt: JsonObject, chain: CheckedChain): string | undefined {
  const { sequence } = receipt
  if (sequence === null && receipt['status'] === 'failed') {
    const entry = [...chain.entries.values()].find((candidate) => candidate.txnId === receipt['txn_id'])
    return entry === undefined
      ? undefined
      : `it says failed, but entry ${entry.sequence} of the chain is this transaction`
  }
  const entry = typeof sequence === 'number' ? chain.entries.get(sequence) : undefined
  if (entry === undefined) return 'the chain has no entry with the sequence that it names'
  return problemOfEntry(receipt, entry)
}

function problemOfEntry(receipt: JsonObject, entry: CheckedEntry): string | undefined {
  const { fields } = entry
  const expected: JsonObject = {
    txn_id: entry.txnId,
    audit_hash: showHash(entry.auditHash),
    previous_hash: showHash(entry.previousHash),
    ...(fields === null ? {} : Object.fromEntries(SHARED_FIELDS.map((name) => [name, fields[name] ?? null]))),
  }
  const different = Object.keys(expected).find((name) => (receipt[name] ?? null) !== expected[name])
  return different === undefined ? undefined : `its ${different} is not that of entry ${entry.sequence} of the chain`
}
