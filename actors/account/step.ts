/**
 * Account: one command, judged and applied.
 * Pure: time, ids, verdicts on signatures and what a key did before arrive from outside, effects leave as data.
 *   S1. A refused or repeated command changes nothing.
 *   S2. Judged in this order: the account, the signature, the repeat, the rest.
 *   S3. A verdict on a signature counts only for the key that this step sees, or the one its original was accepted under.
 */
import type {
  AccountCommand,
  ChangeStatusCommand,
  RegisterCommand,
  RotateKeyCommand,
  SubmitCommand,
} from './commands.ts'
import { BASE_UNIT } from '../money.ts'
import { advance, type AccountSnapshot } from './machine.ts'
import { type Answer, type EarlierUse, type Effect, refusal, viewOf } from './outcome.ts'
import type { AccountKey, AccountState } from './state.ts'

/** What the step must be told, because it may not look for it. */
export interface Evidence {
  readonly ledgerId: string
  /** In production the fields that the sandbox leaves optional are required. */
  readonly production: boolean
  /** What the command's idempotency key did before. */
  readonly earlier: EarlierUse | undefined
  /** Whether this key signed the command's payload with this signature; undefined where nobody has checked yet. */
  readonly verdict: (keyId: string, signature: string) => boolean | undefined
}

export type StepResult =
  | {
      readonly kind: 'stepped'
      readonly snapshot: AccountSnapshot
      readonly effects: readonly Effect[]
      readonly answer: Answer
    }
  /** Nothing changes: a refusal or a repeat. */
  | { readonly kind: 'answered'; readonly answer: Answer }
  /** Have this checked, then step the same command again. */
  | { readonly kind: 'unverified'; readonly key: AccountKey; readonly signature: string }

export function stepAccount(snapshot: AccountSnapshot, command: AccountCommand, evidence: Evidence): StepResult {
  switch (command.type) {
    case 'register':
      return register(snapshot, command, evidence)
    case 'submit':
      return signed(snapshot, command, evidence, () => submit(snapshot, command, evidence))
    case 'rotate_key':
      return signed(snapshot, command, evidence, (account) => rotate(snapshot, account, command, evidence))
    case 'change_status':
      return change(snapshot, command)
  }
}

function answered(answer: Answer): StepResult {
  return { kind: 'answered', answer }
}

function register(snapshot: AccountSnapshot, command: RegisterCommand, { earlier }: Evidence): StepResult {
  const { account } = snapshot.context
  if (earlier !== undefined) return answered(repeatedRegistration(earlier.answer, command))
  if (account === null) {
    return stepped(snapshot, command, (opened) => ({
      kind: 'registered',
      account: viewOf(opened),
      created: true,
      replayed: false,
    }))
  }
  if (account.key?.keyId !== command.key.keyId) {
    return answered(refusal('public_key_conflict', 'The account exists with another key.', 'public_key'))
  }
  const sameClient = account.registeredBy === command.caller.clientId
  // This very command, stepped again because what became of its commit was not known.
  if (sameClient && account.version === 1 && account.createdAtMs === command.atMs) {
    return answered({ kind: 'registered', account: viewOf(account), created: true, replayed: false })
  }
  return answered({ kind: 'registered', account: viewOf(account), created: false, replayed: false })
}

/** The original answer, whatever has become of the account since. */
function repeatedRegistration(answer: Answer, command: RegisterCommand): Answer {
  if (answer.kind !== 'registered') return answer
  return { ...answer, created: true, replayed: answer.account.createdAtMs !== command.atMs }
}

/** The checks that every signed command shares: the account, the signature, the repeat. */
function signed(
  snapshot: AccountSnapshot,
  command: SubmitCommand | RotateKeyCommand,
  evidence: Evidence,
  rest: (account: AccountState) => StepResult,
): StepResult {
  const { account } = snapshot.context
  if (account === null) return answered(refusal('account_not_found', 'There is no such account.', 'account_id'))
  const { earlier } = evidence
  const keys = [account.key, earlier?.key ?? null].filter((key) => key !== null)
  if (keys.length === 0) return answered(refusal('account_keyless', 'The account has no key yet: it can only receive.'))
  let verified = false
  for (const key of keys) {
    const verdict = evidence.verdict(key.keyId, command.signature)
    if (verdict === undefined) return { kind: 'unverified', key, signature: command.signature }
    if (verdict) {
      verified = true
      break
    }
  }
  if (!verified) {
    return answered(refusal('signature_mismatch', 'The signature does not match the key of the account.', 'signature'))
  }
  if (earlier !== undefined) return answered(repeat(earlier, command))
  return rest(account)
}

function repeat({ answer, payloadHash }: EarlierUse, command: SubmitCommand | RotateKeyCommand): Answer {
  const mismatch = payloadHash !== command.payloadHash
  switch (answer.kind) {
    case 'accepted':
      // The very command, stepped again after its commit's outcome was unknown, is no repeat to its client.
      return { ...answer, mismatch, replayed: command.type !== 'submit' || answer.receipt.txnId !== command.txnId }
    case 'rotated':
      return { ...answer, mismatch, replayed: answer.account.updatedAtMs !== command.atMs }
    case 'registered':
    case 'status_changed':
    case 'refused':
      return answer
  }
}

function submit(snapshot: AccountSnapshot, command: SubmitCommand, evidence: Evidence): StepResult {
  const { submission, caller } = command
  if (submission.type === 'credit' && !mayCross(caller.boundary, submission.tokenId)) {
    return answered(refusal('boundary_not_granted', 'This client may not bring value in from outside the ledger.'))
  }
  const foreign = wrongLedger(submission.ledgerId, evidence)
  if (foreign !== undefined) return foreign
  if (submission.expiresAtMs !== null && submission.expiresAtMs <= command.atMs) {
    return answered(refusal('expired', 'The submission had expired when it arrived.', 'expires_at'))
  }
  if (submission.classId !== null) {
    return answered(refusal('class_not_found', 'There is no such NFT class.', 'class_id'))
  }
  if (submission.tokenId !== BASE_UNIT) {
    return answered(refusal('token_not_found', 'There is no such token.', 'token_id'))
  }
  if (submission.termsHash !== null) {
    return answered(refusal('group_terms_unknown', 'No registered group expects this leg.', 'terms_hash'))
  }
  return stepped(snapshot, command, (account) => ({
    kind: 'accepted',
    receipt: {
      txnId: command.txnId,
      accountId: account.accountId,
      shardId: account.shardId,
      enqueuedAtMs: command.atMs,
      groupId: submission.groupId,
    },
    replayed: false,
    mismatch: false,
  }))
}

function mayCross(grant: boolean | readonly string[], tokenId: string): boolean {
  return typeof grant === 'boolean' ? grant : grant.includes(tokenId)
}

function wrongLedger(ledgerId: string | null, evidence: Evidence): StepResult | undefined {
  if (ledgerId === null && evidence.production) {
    return answered(
      refusal('wrong_ledger', 'The field is required: it says for which ledger the order is.', 'ledger_id'),
    )
  }
  return ledgerId === null || ledgerId === evidence.ledgerId
    ? undefined
    : answered(refusal('wrong_ledger', 'The submission was signed for another ledger.', 'ledger_id'))
}

function rotate(
  snapshot: AccountSnapshot,
  account: AccountState,
  command: RotateKeyCommand,
  evidence: Evidence,
): StepResult {
  if (command.proof === null && evidence.production) {
    return answered(refusal('proof_missing', 'A signature by the new key is required.', 'proof'))
  }
  if (command.proof !== null) {
    const verdict = evidence.verdict(command.newKey.keyId, command.proof)
    if (verdict === undefined) return { kind: 'unverified', key: command.newKey, signature: command.proof }
    if (!verdict) return answered(refusal('proof_mismatch', 'The new key did not sign this request.', 'proof'))
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

function change(snapshot: AccountSnapshot, command: ChangeStatusCommand): StepResult {
  const { account } = snapshot.context
  if (account === null) return answered(refusal('account_not_found', 'There is no such account.', 'account_id'))
  if (account.status === 'closed') return answered(refusal('account_closed', 'The account is closed.'))
  const status = command.status ?? account.status
  const incoming = command.incoming ?? account.incoming
  if (status === account.status && incoming === account.incoming) {
    return answered({ kind: 'status_changed', account: viewOf(account) })
  }
  return stepped(snapshot, command, (changed) => ({ kind: 'status_changed', account: viewOf(changed) }))
}

/** Hands the command to the machine. What the machine does not hear is refused: a ledger says no, it does not ignore. */
function stepped(
  snapshot: AccountSnapshot,
  command: AccountCommand,
  answer: (account: AccountState) => Answer,
): StepResult {
  const next = advance(snapshot, command)
  const { account, effects } = next.context
  if (next === snapshot || account === null) {
    return answered(refusal('account_not_empty', 'The account still holds something.', 'status'))
  }
  return { kind: 'stepped', snapshot: next, effects, answer: answer(account) }
}
