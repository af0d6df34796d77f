/**
 * Account: one command, judged and applied.
 * Pure: time, ids, verdicts on signatures and what a key did before arrive from outside, effects leave as data.
 *   S1. A refused or repeated command changes nothing.
 *   S2. Judged in this order: the account, the signature, the repeat, the rest.
 *   S3. A verdict on a signature counts only for the key that this step sees, or the one its original was accepted under.
 *   S4. Every message is consumed: what it cannot have is said in a message of its own.
 */
import type { ActorAnswer } from '../actor-step.ts'
import { arrivalAnswer, ofAdministrators } from '../arrival.ts'
import { arrivalHoldOf, heldAnswer, judgeArrival, signedElsewhere } from './arrival.ts'
import { accountAddress, groupAddress, instanceAddress, tokenAddress } from '../address.ts'
import { invariant } from '../result.ts'
import {
  type AccountCommand,
  type AccountMessageCommand,
  type ChangeStatusCommand,
  type DeclineCommand,
  type EraseCommand,
  keyUseOf,
  type MintCommand,
  payloadHashOf,
  type PortageCommand,
  type RegisterCommand,
  type RotateKeyCommand,
  type SubmitCommand,
} from './commands.ts'
import { judgeDeparture } from './departure.ts'
import { mintUnderWay } from './mint.ts'
import { advance, type AccountEvent, type AccountSnapshot } from './machine.ts'
import { type Answer, type EarlierUse, type Effect, refusal, viewOf } from './outcome.ts'
import { type AccountKey, type AccountState, isClosed, isUnclaimed, isUnsigned } from './state.ts'
import { judgeMint, judgeSubmission, type SubmissionEvidence, wrongLedger } from './submission.ts'
import { type CompensableTransaction, failure } from './transaction.ts'

/** What the step must be told, because it may not look for it. */
export interface Evidence extends SubmissionEvidence {
  /** What the command's idempotency key did before. */
  readonly earlier: EarlierUse | undefined
  /** Whether this key signed the command's payload with this signature; undefined where nobody has checked yet. */
  readonly verdict: (keyId: string, signature: string) => boolean | undefined
  /** The transaction that a compensation names. */
  readonly transaction: CompensableTransaction | undefined
  /**
   * Whether the command's key was used on the ledger that the account came from; undefined where nobody has looked, which is
   * no answer once the account has come.
   */
  readonly usedElsewhere: boolean | undefined
  /** Whether what the ledger holds of accounts can be destroyed: it is sealed, and each account has a key of its own. */
  readonly erasable: boolean
}

export type StepResult =
  | {
      readonly kind: 'stepped'
      readonly snapshot: AccountSnapshot
      readonly effects: readonly Effect[]
      /** null: nobody asked, a message was heard. */
      readonly answer: ActorAnswer | null
    }
  /** Nothing changes: a refusal or a repeat. */
  | { readonly kind: 'answered'; readonly answer: ActorAnswer }
  /** Have this checked, then step the same command again. */
  | { readonly kind: 'unverified'; readonly key: AccountKey; readonly signature: string }
  /** Nobody has looked whether its key was used elsewhere: whoever asked has to ask again. */
  | { readonly kind: 'unlooked' }

export function stepAccount(snapshot: AccountSnapshot, command: AccountCommand, evidence: Evidence): StepResult {
  switch (command.type) {
    case 'register':
      return register(snapshot, command, evidence)
    case 'submit':
      return signed(snapshot, command, evidence, (account) => submit(snapshot, account, command, evidence))
    case 'rotate_key':
      return signed(snapshot, command, evidence, (account) => rotate(snapshot, account, command, evidence))
    case 'mint':
      return signed(snapshot, command, evidence, (account) => mint(snapshot, account, command, evidence))
    case 'decline_legs':
      return decline(snapshot, command, evidence)
    case 'change_status':
      return change(snapshot, command, evidence)
    case 'erase':
      return erase(snapshot, command, evidence)
    case 'hold_arrival':
    case 'take_arrival':
    case 'drop_arrival':
    case 'note_used_keys':
    case 'depart':
      return portage(snapshot, command)
    default:
      return hear(snapshot, command, evidence)
  }
}

function answered(answer: ActorAnswer): StepResult {
  return { kind: 'answered', answer }
}

function register(snapshot: AccountSnapshot, command: RegisterCommand, { earlier }: Evidence): StepResult {
  const { account } = snapshot.context
  if (account?.status === 'erased') {
    return answered(refusal('public_key_conflict', 'The ID was that of an account that was erased.', 'account_id'))
  }
  if (earlier !== undefined) return answered(repeatedRegistration(earlier, command))
  const created = (opened: AccountState): Answer => ({
    kind: 'registered',
    account: viewOf(opened),
    created: true,
    replayed: false,
    mismatch: false,
  })
  if (account === null) return stepped(snapshot, command, created)
  const { clientId, role } = command.caller
  const sameClient = account.registeredBy === clientId
  if (account.key === null) {
    // Whoever could name an issuer could take what was issued to it; and one that is on its way brings its own key.
    const isWanted = sameClient || role === 'admin' || isUnclaimed(account)
    const mayClaim = isWanted && !isClosed(account) && arrivalHoldOf(account) === undefined
    if (mayClaim) return stepped(snapshot, command, created)
    return answered(
      refusal('public_key_conflict', 'The account exists without a key, and is not yours to give one.', 'public_key'),
    )
  }
  if (account.key.keyId !== command.key.keyId) {
    return answered(refusal('public_key_conflict', 'The account exists with another key.', 'public_key'))
  }
  // This very command, stepped again because what became of its commit was not known.
  if (sameClient && account.version === 1 && account.createdAtMs === command.atMs) return answered(created(account))
  return answered({
    kind: 'registered',
    account: viewOf(account),
    created: false,
    replayed: false,
    mismatch: false,
  })
}

/** The original answer, whatever has become of the account since. */
function repeatedRegistration({ answer, payloadHash }: EarlierUse, command: RegisterCommand): Answer {
  if (answer.kind !== 'registered') return answer
  const mismatch = payloadHash !== payloadHashOf(command)
  return { ...answer, created: true, replayed: answer.account.updatedAtMs !== command.atMs, mismatch }
}

/** The checks that every signed command shares: the account, the signature, the repeat. */
function signed(
  snapshot: AccountSnapshot,
  command: SubmitCommand | RotateKeyCommand | MintCommand,
  evidence: Evidence,
  rest: (account: AccountState) => StepResult,
): StepResult {
  const { account } = snapshot.context
  if (account === null) return answered(refusal('account_not_found', 'There is no such account.', 'account_id'))
  if (account.status === 'erased') return answered(refusal('account_closed', 'The account is closed.'))
  const { earlier } = evidence
  // A mint that is under way is a repeat's original, too: it was accepted under the key that was in force then (D7).
  const begun = command.type === 'mint' ? mintUnderWay(account, command.idempotencyKey) : undefined
  const keys = [account.key, earlier?.key ?? null, begun?.acceptedUnder ?? null].filter((key) => key !== null)
  if (keys.length === 0) return answered(keyless())
  const problem = signatureProblem(keys, command.signature, evidence)
  if (problem !== undefined) return problem
  if (earlier !== undefined) return answered(repeat(earlier, command))
  if (begun !== undefined) return answered('deferred')
  const elsewhere = signedElsewhere(account, command, evidence.usedElsewhere)
  if (elsewhere === 'unlooked') return { kind: 'unlooked' }
  return elsewhere === undefined ? rest(account) : answered(elsewhere)
}

/** Undefined if one of the keys made the signature. */
function signatureProblem(
  keys: readonly AccountKey[],
  signature: string,
  { verdict }: Evidence,
): StepResult | undefined {
  for (const key of keys) {
    const isValid = verdict(key.keyId, signature)
    if (isValid === undefined) return { kind: 'unverified', key, signature }
    if (isValid) return undefined
  }
  const detail = 'The signature does not match the key of the account.'
  return answered(refusal('signature_mismatch', detail, 'signature', keys[0]?.keyId))
}

/** Idempotent: a group reverts once, and a leg that has been declined stays so. */
function decline(snapshot: AccountSnapshot, command: DeclineCommand, evidence: Evidence): StepResult {
  const { account } = snapshot.context
  const { groupId, termsHash, ledgerId } = command
  if (account === null) return answered(refusal('account_not_found', 'There is no such account.', 'account_id'))
  if (isClosed(account)) return answered(refusal('account_closed', 'The account is closed.'))
  if (account.key === null) return answered(keyless())
  const problem = signatureProblem([account.key], command.signature, evidence)
  if (problem !== undefined) return problem
  const foreign = wrongLedger(ledgerId, {
    ...evidence,
    production: evidence.production || account.arrived !== undefined,
  })
  if (foreign !== undefined) return answered(foreign)
  const legs = [...account.holds.values()].filter(
    (hold) => hold.kind === 'leg' && hold.groupId === groupId && hold.termsHash === termsHash,
  )
  if (legs.length === 0) {
    return answered(refusal('group_not_found', 'No open group of this ID and terms expects a leg of the account.'))
  }
  const unsigned = legs.filter(isUnsigned)
  if (unsigned.length === 0) {
    return answered(refusal('leg_signed', 'The account has signed its leg, or has received the value of its leg.'))
  }
  const declined: Answer = { kind: 'legs_declined', groupId }
  const isNew = unsigned.some((hold) => hold.kind === 'leg' && hold.state === 'expected')
  return isNew ? stepped(snapshot, command, () => declined) : answered(declined)
}

function keyless(): Answer {
  return refusal('account_keyless', 'The account has no key yet: it can only receive.')
}

function repeat({ answer, payloadHash }: EarlierUse, command: SubmitCommand | RotateKeyCommand | MintCommand): Answer {
  const mismatch = payloadHash !== command.payloadHash
  switch (answer.kind) {
    case 'accepted':
      // The very command, stepped again after its commit's outcome was unknown, is no repeat to its client.
      return { ...answer, mismatch, replayed: command.type !== 'submit' || answer.receipt.txnId !== command.newTxnId }
    case 'rotated':
      return { ...answer, mismatch, replayed: answer.account.updatedAtMs !== command.atMs }
    case 'minted':
      return { ...answer, mismatch, replayed: answer.txnId !== command.newTxnId }
    default:
      return answer
  }
}

function submit(
  snapshot: AccountSnapshot,
  account: AccountState,
  command: SubmitCommand,
  evidence: Evidence,
): StepResult {
  const refused = judgeSubmission(account, command, evidence)
  if (refused !== undefined) return answered(refused)
  return stepped(snapshot, command, (next, effects) => ({
    kind: 'accepted',
    receipt: {
      txnId: command.newTxnId,
      accountId: next.accountId,
      shardId: next.shardId,
      enqueuedAtMs: command.atMs,
      groupId: groupIdOf(effects) ?? command.submission.groupId,
    },
    replayed: false,
    mismatch: false,
  }))
}

/** A transfer without a group ID was given one. */
function groupIdOf(effects: readonly Effect[]): string | null {
  for (const effect of effects) if (effect.kind === 'transaction_entered') return effect.transaction.groupId
  return null
}

function rotate(
  snapshot: AccountSnapshot,
  account: AccountState,
  command: RotateKeyCommand,
  evidence: Evidence,
): StepResult {
  if (command.ledgerId !== null && command.ledgerId !== evidence.ledgerId) {
    return answered(refusal('wrong_ledger', 'It was signed for another ledger.', 'ledger_id'))
  }
  if (command.proof === null && evidence.production) {
    return answered(refusal('proof_missing', 'A signature by the new key is required.', 'proof'))
  }
  if (command.proof !== null) {
    const verdict = evidence.verdict(command.newKey.keyId, command.proof)
    if (verdict === undefined) return { kind: 'unverified', key: command.newKey, signature: command.proof }
    if (!verdict) {
      const { keyId } = command.newKey
      return answered(refusal('proof_mismatch', 'The new key did not sign this request.', 'proof', keyId))
    }
  }
  if (account.status !== 'active') {
    return answered(refusal('account_not_active', `The account is ${account.status}.`))
  }
  return stepped(snapshot, command, (rotated) => ({
    kind: 'rotated',
    account: viewOf(rotated),
    replayed: false,
    mismatch: false,
  }))
}

function mint(snapshot: AccountSnapshot, account: AccountState, command: MintCommand, evidence: Evidence): StepResult {
  const refused = judgeMint(account, command, evidence)
  return refused === undefined ? stepped(snapshot, command, () => 'deferred') : answered(refused)
}

function change(snapshot: AccountSnapshot, command: ChangeStatusCommand, { earlier }: Evidence): StepResult {
  const { account } = snapshot.context
  if (account === null) return answered(refusal('account_not_found', 'There is no such account.', 'account_id'))
  if (account.status !== 'erased' && earlier !== undefined) return answered(earlier.answer)
  if (isClosed(account)) return answered(refusal('account_closed', 'The account is closed.'))
  const status = command.status ?? account.status
  const incoming = command.incoming ?? account.incoming
  // Recorded under its idempotency key: a replay changes nothing, also after later changes of the status.
  if (status === account.status && incoming === account.incoming && keyUseOf(command) === undefined) {
    return answered({ kind: 'status_changed', account: viewOf(account) })
  }
  return stepped(snapshot, command, (changed) => ({ kind: 'status_changed', account: viewOf(changed) }))
}

/** Asked again it says the same: nothing follows an erasure but refusals. */
function erase(snapshot: AccountSnapshot, command: EraseCommand, { erasable }: Evidence): StepResult {
  const { account } = snapshot.context
  if (account === null) return answered(refusal('account_not_found', 'There is no such account.', 'account_id'))
  if (account.status === 'erased') return answered({ kind: 'status_changed', account: viewOf(account) })
  if (account.status !== 'closed') {
    return answered(refusal('account_not_closed', `The account is ${account.status}: only a closed one is erased.`))
  }
  if (account.holds.size > 0) {
    return answered(
      refusal(
        'account_not_empty',
        'Settlement groups are still ending legs of the account. Retry shortly.',
        'account_id',
      ),
    )
  }
  if (!erasable) {
    return answered(
      refusal('account_not_erasable', 'The ledger is not encrypted: it has no key that it could destroy.'),
    )
  }
  return stepped(snapshot, command, (erased) => ({ kind: 'status_changed', account: viewOf(erased) }))
}

/** Of an import or of a move to another ledger: by administrators alone, and each command may come again. */
function portage(snapshot: AccountSnapshot, command: PortageCommand): StepResult {
  const { account } = snapshot.context
  const refused = ofAdministrators(command)
  if (refused !== undefined) return answered(refused)
  const known = command.type === 'depart' ? judgeDeparture(account, command) : judgeArrival(account, command)
  if (known !== undefined) return answered(known)
  if (command.type === 'hold_arrival') return stepped(snapshot, command, () => heldAnswer(command))
  if (command.type !== 'depart') return stepped(snapshot, command, () => arrivalAnswer(command))
  return stepped(snapshot, command, (gone) => ({ kind: 'departed', account: viewOf(gone) }))
}

/** Messages of other actors. */
function hear(snapshot: AccountSnapshot, command: AccountMessageCommand, evidence: Evidence): StepResult {
  const { account } = snapshot.context
  const prepares = command.type === 'prepare_issue' || command.type === 'prepare_class'
  if (account === null && !prepares) return unknownAccount(snapshot, command)
  if (command.type === 'compensate') return heard(snapshot, { ...command, found: evidence.transaction })
  if (prepares && command.consentNeeded && account !== null && account.key !== null) {
    const { key } = account
    const { signature } = command
    const verdict = signature === '' ? false : evidence.verdict(key.keyId, signature)
    if (verdict === undefined) return { kind: 'unverified', key, signature }
    if (!verdict) return withoutConsent(snapshot, command, key.keyId)
  }
  return heard(snapshot, command)
}

function heard(snapshot: AccountSnapshot, event: AccountEvent): StepResult {
  const next = advance(snapshot, event)
  invariant(next !== snapshot, `an account that is ${snapshot.value} cannot hear ${event.type}`)
  return { kind: 'stepped', snapshot: next, effects: next.context.effects, answer: null }
}

/** Nothing of an account changes, a message goes out. */
function replied(
  snapshot: AccountSnapshot,
  envelope: Extract<Effect, { kind: 'message_sent' }>['envelope'],
): StepResult {
  return { kind: 'stepped', snapshot, effects: [{ kind: 'message_sent', envelope }], answer: null }
}

function unknownAccount(snapshot: AccountSnapshot, command: AccountMessageCommand): StepResult {
  switch (command.type) {
    case 'receive_transfer':
      return replied(snapshot, {
        to: accountAddress(command.fromAccountId),
        message: {
          type: 'conclude_transfer',
          txnId: command.txnId,
          failure: failure('account_closed'),
          counterTxnId: null,
        },
        carries: [],
      })
    case 'receive_nft':
      return replied(snapshot, {
        to: instanceAddress(command.nftId),
        message: {
          type: 'nft_received',
          txnId: command.txnId,
          failure: failure('account_closed'),
          counterTxnId: null,
        },
        carries: [],
      })
    case 'expect_leg': {
      const { groupId, leg, role, accountId } = command
      const refused = { code: 'account_not_found', detail: `There is no account ${accountId}.` } as const
      return replied(snapshot, {
        to: groupAddress(groupId),
        message: { type: 'leg_expected', groupId, leg, role, refused },
        carries: [],
      })
    }
    case 'compensate': {
      const { groupId, asked } = command
      const outcome = { kind: 'failed', failure: failure('not_compensable') } as const
      return replied(snapshot, {
        to: groupAddress(groupId),
        message: { type: 'compensation_ended', asked, outcome },
        carries: [],
      })
    }
    default:
      return heard(snapshot, command)
  }
}

function withoutConsent(
  snapshot: AccountSnapshot,
  command: Extract<AccountMessageCommand, { readonly type: 'prepare_issue' | 'prepare_class' }>,
  keyId: string,
): StepResult {
  const detail = 'The issuer did not sign this registration.'
  const refused = { code: 'issuer_consent_missing', detail, keyId } as const
  return replied(snapshot, {
    to: command.type === 'prepare_issue' ? tokenAddress(command.tokenId) : { kind: 'class', id: command.name },
    message: { type: 'issue_prepared', refused },
    carries: [],
  })
}

/** Hands the command to the machine. What the machine does not hear is refused: a ledger says no, it does not ignore. */
function stepped(
  snapshot: AccountSnapshot,
  command: AccountEvent,
  answer: (account: AccountState, effects: readonly Effect[]) => ActorAnswer,
): StepResult {
  const next = advance(snapshot, command)
  const { account, effects } = next.context
  if (next === snapshot || account === null) {
    return answered(refusal('account_not_empty', 'The account still holds something.', 'status'))
  }
  return { kind: 'stepped', snapshot: next, effects, answer: answer(account, effects) }
}
