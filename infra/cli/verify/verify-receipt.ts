/**
 * Verifies a receipt offline:
 *   W1. Its signature verifies under the key `key_id`. The JWKS has this key, with the purpose `receipt` and not revoked,
 *       and its span covers `processed_at`, with the same slack as in the auditor.
 *   W2. If the account's chain is given, the receipt agrees with the entry of its sequence.
 */
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import { showHash } from '../../../actors/audit-chain.ts'
import { signatureProblem, type SignatureProblem, timeMsIn } from '../../../api/endpoint/service-signature.ts'
import type { PublishedKey } from '../../../runtime/ports/service-keys.ts'
import { RECEIPT_SLACK_MS } from '../../audit/receipt-check.ts'
import type { CheckedChain, CheckedEntry } from './verify-chain.ts'

export interface GivenReceipt {
  readonly receipt: JsonObject
  /** DER in base64. */
  readonly signature: string
}

export interface ReceiptKeys {
  /** Name of the file, for messages. */
  readonly name: string
  /** The ledger of the document; undefined if it names none. */
  readonly ledgerId: string | undefined
  readonly keys: readonly PublishedKey<string>[]
}

/** Fields with the same value in a receipt and its entry of the chain. */
const SHARED_FIELDS = [
  'account_id',
  'shard_id',
  'type',
  'amount',
  'token_id',
  'receive',
  'balance_after',
  'available_after',
  'origin',
  'created_at',
  'processed_at',
]

/** A strict ID: any other value names no key that could be fetched. */
const ID = /^[\x21-\x7e]{1,128}$/

/**
 * Why this JWKS cannot verify the signature, and what to do; undefined if it can. A JWKS of another ledger, or one saved
 * before the key existed, proves neither validity nor tampering. `signed`: has the members `ledger_id` and `key_id`.
 */
export function unsuitableJwks(signed: JsonObject, { keys, ledgerId, name }: ReceiptKeys): string | undefined {
  const [ofLedger, keyId] = [idIn(signed, 'ledger_id'), idIn(signed, 'key_id')]
  if (ofLedger === undefined) return undefined
  const fetchIt = `fetch /.well-known/jwks.json of ledger ${ofLedger}`
  if (ledgerId !== undefined && ofLedger !== ledgerId) {
    return `it is of ledger ${ofLedger}, but ${name} is of ledger ${ledgerId}: ${fetchIt}`
  }
  if (keyId === undefined || keys.some((key) => key.keyId === keyId)) return undefined
  return `it names key ${keyId}, which ${name} does not have: ${fetchIt} again`
}

function idIn(signed: JsonObject, member: string): string | undefined {
  const id = signed[member]
  return typeof id === 'string' && ID.test(id) ? id : undefined
}

/** Why the receipt is invalid; undefined if it is valid. `chain`: of the receipt's account, if it is given. */
export function problemOfReceipt(
  given: GivenReceipt,
  keys: ReceiptKeys,
  chain: CheckedChain | undefined,
): string | undefined {
  return problemOfSignature(given, keys) ?? (chain === undefined ? undefined : problemOfPlace(given.receipt, chain))
}

/** `time`: the member with the time at which the key signed. */
export function signatureProblemText(problem: SignatureProblem, time: string): string {
  const texts: Readonly<Record<SignatureProblem, string>> = {
    unknown_key: 'its key_id is not in the JWKS',
    other_purpose: 'its key has another purpose',
    revoked: 'its key is revoked',
    not_in_use: `its key was not in use at its ${time}`,
    mismatch: 'its signature does not verify',
  }
  return texts[problem]
}

function problemOfSignature({ receipt, signature }: GivenReceipt, { ledgerId, keys }: ReceiptKeys): string | undefined {
  if (ledgerId !== undefined && receipt['ledger_id'] !== ledgerId) return 'its ledger_id is not that of the JWKS'
  const atMs = timeMsIn(receipt['processed_at'])
  if (Number.isNaN(atMs)) return 'it has no processed_at'
  const claim = { keyId: receipt['key_id'], atMs, text: canonicalJson(receipt), signature }
  const problem = signatureProblem(claim, 'receipt', keys, RECEIPT_SLACK_MS)
  return problem && signatureProblemText(problem, 'processed_at')
}

function problemOfPlace(receipt: JsonObject, chain: CheckedChain): string | undefined {
  const { sequence } = receipt
  if (sequence === null && receipt['status'] === 'failed') {
    const entry = [...chain.entries.values()].find((candidate) => candidate.txnId === receipt['txn_id'])
    return entry === undefined
      ? undefined
      : `its status is failed, but entry ${entry.sequence} of the chain has this transaction`
  }
  const entry = typeof sequence === 'number' ? chain.entries.get(sequence) : undefined
  if (entry === undefined) return 'the chain has no entry with its sequence'
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
  const isSame = (name: string): boolean =>
    canonicalJson(receipt[name] ?? null) === canonicalJson(expected[name] ?? null)
  const different = Object.keys(expected).find((name) => !isSame(name))
  return different === undefined ? undefined : `its ${different} is not that of entry ${entry.sequence} of the chain`
}
