/**
 * Verifies a receipt.
 *   W1. Its signature verifies under the receipt key `key_id`, which was in use at `processed_at`.
 *   W2. If the account's chain is given, the receipt agrees with the entry of its sequence.
 *   W3. If the order is given, the receipt is of this order.
 *   W4. If members are expected, the receipt has them.
 */
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import type { Receipt, ReceiptPayload } from '../generated/api-types.ts'
import { definedMembers, orderHash } from '../signing/sign-order.ts'
import { signatureProblem, type TrustedKeys } from './service-signature.ts'
import { type Invalid, judged, tampered, unexpected, type Verdict } from './verdict.ts'
import type { BrokenChain, VerifiedChain, VerifiedEntry } from './verify-chain.ts'

export interface ReceiptExpectation {
  /** Of the receipt's account: proves the place of the transaction in it. */
  readonly chain?: VerifiedChain | BrokenChain | undefined
  /** As it was signed: proves that the ledger processed this order. */
  readonly order?: object | undefined
  /**
   * Members that the receipt must have, such as `{ txn_id: txnId, status: 'completed' }`. Without them a valid receipt of
   * another transaction, or of a failed one, is valid, too.
   */
  readonly expected?: Partial<ReceiptPayload> | undefined
}

/** A node may sign for so long with keys that it has read before. */
const SLACK_MS = 300_000

/** Fields of the same name that say something else in an entry: the account's key, and a hash in another form. */
const OTHER_FIELDS: ReadonlySet<string> = new Set(['key_id', 'submission_hash'])
/** Fields with the same value in a receipt and its entry of the chain, if one of them has it. */
const SHARED_FIELDS = [
  'account_id',
  'shard_id',
  'type',
  'amount',
  'token_id',
  'class_id',
  'instance_id',
  'receive',
  'balance_after',
  'available_after',
  'origin',
  'created_at',
  'processed_at',
]

/**
 * Whether the ledger signed this outcome. A valid receipt may be of a failed transaction: read `status`, or expect it.
 * `keySet`: of `/.well-known/jwks.json`, from a source that you trust.
 */
export async function verifyReceipt(
  { receipt, signature }: Receipt,
  keySet: TrustedKeys,
  { chain, order, expected = {} }: ReceiptExpectation = {},
): Promise<Verdict> {
  return judged<Verdict>(async () => {
    const signed = definedMembers(receipt)
    const claim = { signed, signature, purpose: 'receipt', timeMember: 'processed_at', slackMs: SLACK_MS } as const
    const invalid = await signatureProblem(claim, keySet)
    if (invalid !== undefined) return invalid
    const other = unexpected(expected, signed)
    if (other !== undefined) return other
    if (order !== undefined && receipt.submission_hash !== (await orderHash(order))) {
      return {
        ok: false,
        reason: 'unexpected',
        problem: 'it is of another order: its submission_hash is not that of the order',
      }
    }
    if (chain?.ok === false) return { ok: false, reason: chain.reason, problem: `its chain: ${chain.problem}` }
    const misplaced = chain === undefined ? undefined : problemOfPlace(signed, chain)
    if (misplaced !== undefined) return misplaced
    return {
      ok: true,
      proved: [
        `Ledger ${receipt.ledger_id} signed that ${receipt.txn_id} of ${receipt.account_id} is ${receipt.status}: ${outcomeText(receipt)}.`,
        ...(order === undefined ? [] : ['It is the transaction of this order.']),
        ...(chain === undefined ? [] : [placeText(receipt.sequence)]),
      ],
    }
  })
}

/** Type, amount, asset and parties; of a failed transaction also the code of its failure. */
export function outcomeText(receipt: ReceiptPayload): string {
  const { type, amount, receive, account_id: account, status, failure } = receipt
  const { from_account_id: from, to_account_id: to } = receipt
  const isOneSided = from === undefined && to === undefined
  const parties = isOneSided ? `of ${account}` : `from ${from ?? account} to ${to ?? account}`
  const returned = receive === undefined ? '' : ` for ${receive.amount} ${assetOf(receive)}`
  const reason = status === 'failed' ? ` (${failure?.code ?? 'without a reason'})` : ''
  return `${type} of ${amount} ${assetOf(receipt)} ${parties}${returned}${reason}`
}

function assetOf({ token_id, class_id, instance_id }: Pick<ReceiptPayload, 'token_id' | 'class_id' | 'instance_id'>) {
  return token_id ?? `NFT ${class_id}/${instance_id}`
}

function placeText(sequence: number | null): string {
  return sequence === null ? 'The audit chain does not have it.' : `It is entry ${sequence} of the audit chain.`
}

function problemOfPlace(receipt: JsonObject, chain: VerifiedChain): Invalid | undefined {
  if (chain.accountId !== '' && receipt['account_id'] !== chain.accountId) {
    return { ok: false, reason: 'unexpected', problem: 'the chain is of another account' }
  }
  const { sequence, txn_id: txnId } = receipt
  if (sequence === null && receipt['status'] === 'failed') {
    const entry = [...chain.entries.values()].find((candidate) => candidate.txn_id === txnId)
    return entry && tampered(`its status is failed, but entry ${entry.sequence} of the chain has this transaction`)
  }
  const entry = typeof sequence === 'number' ? chain.entries.get(sequence) : undefined
  if (entry === undefined) {
    return {
      ok: false,
      reason: 'incomplete',
      problem: `the chain has no entry with its sequence ${JSON.stringify(sequence)}`,
    }
  }
  const different = problemOfEntry(receipt, entry)
  return different === undefined ? undefined : tampered(different)
}

function problemOfEntry(receipt: JsonObject, entry: VerifiedEntry): string | undefined {
  const { fields, txn_id, audit_hash, previous_hash, sequence } = entry
  const inBoth = Object.keys(fields ?? {}).filter((name) => Object.hasOwn(receipt, name) && !OTHER_FIELDS.has(name))
  const names = fields === null ? [] : [...new Set([...SHARED_FIELDS, ...inBoth])]
  const shared = names.map((name) => [name, fields?.[name] ?? null] as const)
  const expected = [...Object.entries({ txn_id, audit_hash, previous_hash }), ...shared]
  const different = expected.find(([name, value]) => canonicalJson(receipt[name] ?? null) !== canonicalJson(value))
  return different && `its ${different[0]} is not that of entry ${sequence} of the chain`
}
