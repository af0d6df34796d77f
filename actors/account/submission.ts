/**
 * Rules for a submission beyond its signature, in the order of the checks. undefined: no objection; a refusal does not
 * use the idempotency key up.
 */
import { BASE_DECIMALS, BASE_UNIT, fractionalDigits, parseQuantity } from '../money.ts'
import type { ClassFacts } from '../nft-class/state.ts'
import { nftNameOf } from '../nft-id.ts'
import type { TokenFacts } from '../token/state.ts'
import {
  type CreateHoldCommand,
  isSelfTransfer,
  type MintCommand,
  type Submission,
  type SubmitCommand,
  type TransactionType,
  withArticle,
} from './commands.ts'
import { expectationFor } from './legs.ts'
import { type Answer, refusal } from './outcome.ts'
import type { AccountData } from './state.ts'

/** The longest time until a hold expires. */
export const LONGEST_HOLD_MS = 90 * 86_400_000

/** The most undecided transactions and active holds of an account. */
export const MAX_PENDING = 4_096

/** The most undecided mints of an account: the account stores the metadata of each, which may be large. */
export const MAX_MINTS_UNDER_WAY = 256

export interface AssetEvidence {
  /** undefined: not registered. */
  readonly token: (tokenId: string) => TokenFacts | undefined
  /** undefined: not registered. */
  readonly nftClass: (classId: string) => ClassFacts | undefined
  /** Whether the NFT was ever minted. */
  readonly minted: (nftId: string) => boolean
}

export interface SubmissionEvidence extends AssetEvidence {
  readonly ledgerId: string
  /** In production, fields that are optional in the sandbox are required. */
  readonly production: boolean
  /** Whether an account that the command names exists. */
  readonly exists: (accountId: string) => boolean
  /** Earlier client transactions on this account under the submission's group ID. */
  readonly groupUses: readonly { readonly type: TransactionType; readonly tokenId: string }[]
}

export function judgeSubmission(
  account: AccountData,
  command: SubmitCommand,
  evidence: SubmissionEvidence,
): Answer | undefined {
  const { submission, caller } = command
  if (submission.type === 'credit' && submission.termsHash === null && !mayCross(caller.boundary, submission.tokenId)) {
    return refusal('boundary_not_granted', 'This client may not bring in value from an external account.')
  }
  const foreign = wrongLedger(submission.ledgerId, evidence)
  if (foreign !== undefined) return foreign
  if (submission.expiresAtMs !== null && submission.expiresAtMs <= command.atMs) {
    return refusal('expired', 'The submission had expired when it arrived.', 'expires_at')
  }
  return (
    wrongAsset(account, submission, evidence) ??
    wrongReceiver(submission, evidence) ??
    wrongGroup(account, submission, evidence) ??
    tooMuchPending(account)
  )
}

export function judgeMint(
  account: AccountData,
  command: MintCommand,
  evidence: SubmissionEvidence,
): Answer | undefined {
  const { classId, metadataVerdict, owner } = command
  const foreign = wrongLedger(command.ledgerId, evidence)
  if (foreign !== undefined) return foreign
  const facts = evidence.nftClass(classId)
  if (facts === undefined) return refusal('class_not_found', 'There is no such NFT class.', 'class_id')
  if (facts.issuer !== account.accountId) return refusal('not_issuer', 'Only the issuer of the class may mint in it.')
  if (metadataVerdict === 'unchecked') {
    return refusal('metadata_unchecked', 'The metadata was not validated against the schema of the class.', 'metadata')
  }
  if (metadataVerdict === 'invalid') {
    return refusal('metadata_invalid', 'The metadata does not satisfy the schema of the class.', 'metadata')
  }
  if (owner !== account.accountId && !evidence.exists(owner)) {
    return refusal('owner_not_found', 'There is no such account.', 'owner')
  }
  return tooManyMints(account) ?? tooMuchPending(account)
}

export function judgeHold(
  account: AccountData,
  command: CreateHoldCommand,
  evidence: SubmissionEvidence,
): Answer | undefined {
  const { toAccountId, tokenId, amount, expiresAtMs, atMs } = command
  const foreign = wrongLedger(command.ledgerId, evidence)
  if (foreign !== undefined) return foreign
  if (expiresAtMs <= atMs) return refusal('expired', 'The hold had expired when it arrived.', 'expires_at')
  if (expiresAtMs > atMs + LONGEST_HOLD_MS) {
    return refusal('expired', 'A hold expires after at most 90 days.', 'expires_at')
  }
  return (
    wrongQuantity(tokenId, amount, evidence, '') ?? wrongReceiver({ toAccountId }, evidence) ?? tooMuchPending(account)
  )
}

export function mayCross(grant: boolean | readonly string[], tokenId: string): boolean {
  return typeof grant === 'boolean' ? grant : grant.includes(tokenId)
}

export function wrongLedger(
  ledgerId: string | null,
  evidence: Pick<SubmissionEvidence, 'ledgerId' | 'production'>,
): Answer | undefined {
  if (ledgerId === null && evidence.production) {
    return refusal('wrong_ledger', 'The field is required: it names the ledger that the order is for.', 'ledger_id')
  }
  return ledgerId === null || ledgerId === evidence.ledgerId
    ? undefined
    : refusal('wrong_ledger', 'The submission was signed for another ledger.', 'ledger_id')
}

function wrongAsset(
  { accountId }: AccountData,
  { type, tokenId, amount, receive }: Submission,
  evidence: SubmissionEvidence,
): Answer | undefined {
  const wrong =
    wrongQuantity(tokenId, amount, evidence, '') ??
    (receive === null ? undefined : wrongQuantity(receive.tokenId, receive.amount, evidence, 'receive.'))
  if (wrong !== undefined) return wrong
  if (type === 'mint' && evidence.token(tokenId)?.issuer !== accountId) {
    return refusal('not_issuer', 'Only the issuer of the token may mint it.')
  }
  return undefined
}

/** `prefix`: of the field's name. */
export function wrongQuantity(
  tokenId: string,
  amount: string,
  evidence: AssetEvidence,
  prefix: string,
): Answer | undefined {
  const nft = nftNameOf(tokenId)
  if (nft !== undefined) {
    if (evidence.nftClass(nft.classId) === undefined) {
      return refusal('class_not_found', 'There is no such NFT class.', `${prefix}class_id`)
    }
    if (evidence.minted(tokenId)) return undefined
    return refusal('instance_not_found', 'There is no such NFT.', `${prefix}instance_id`)
  }
  const decimals = tokenId === BASE_UNIT ? BASE_DECIMALS : evidence.token(tokenId)?.decimals
  if (decimals === undefined) return refusal('token_not_found', 'There is no such token.', `${prefix}token_id`)
  if (fractionalDigits(parseQuantity(amount)) <= decimals) return undefined
  return refusal('amount_precision', `The token has ${decimals} decimals.`, `${prefix}amount`)
}

function wrongReceiver(
  { toAccountId }: Pick<Submission, 'toAccountId'>,
  { exists }: SubmissionEvidence,
): Answer | undefined {
  if (toAccountId === null || exists(toAccountId)) return undefined
  return refusal('receiver_not_found', 'There is no such account.', 'to_account_id')
}

function wrongGroup(
  account: AccountData,
  submission: Submission,
  { groupUses }: SubmissionEvidence,
): Answer | undefined {
  const { groupId, termsHash, type, tokenId } = submission
  if (termsHash !== null) {
    if (groupId !== null && expectationFor(account, submission) !== undefined) return undefined
    return refusal('group_terms_unknown', 'No registered group expects this leg.', 'terms_hash')
  }
  if (groupId === null) return undefined
  if (account.holds.legsOf(groupId).length > 0) {
    return refusal('group_registered', 'The group is registered: its legs must have terms_hash.', 'group_id')
  }
  const opposite = groupUses.find((use) => use.tokenId === tokenId && isSelfTransfer(use.type, type))
  if (opposite === undefined) return undefined
  const detail = `The account has ${withArticle(opposite.type)} of this asset under the same group ID.`
  return refusal('self_transfer', detail, 'group_id')
}

function tooManyMints({ holds }: AccountData): Answer | undefined {
  if (holds.mints < MAX_MINTS_UNDER_WAY) return undefined
  return refusal('pending_limit', `The account has ${MAX_MINTS_UNDER_WAY} pending mints, the most it may. Retry later.`)
}

/** Legs that only other clients registered do not count. */
function tooMuchPending({ holds }: AccountData): Answer | undefined {
  if (holds.pending < MAX_PENDING) return undefined
  return refusal(
    'pending_limit',
    `The account has ${MAX_PENDING} pending transactions and holds, the most it may. Retry later.`,
  )
}
