/**
 * Actions on an account: its machine decides which of them run. Transactions that another actor decides are in
 * pending.ts, legs of registered groups in legs.ts.
 */
import { appendEntry, ENTRY_FORMAT, GENESIS } from '../audit-chain.ts'
import type { Stamp } from '../message.ts'
import { parseQuantity, type Quantity } from '../money.ts'
import { isoTimestamp } from '../timestamp.ts'
import { Balances } from './balances.ts'
import {
  type ChangeStatusCommand,
  type EraseCommand,
  keyUseOf,
  payloadHashOf,
  type RegisterCommand,
  type RotateKeyCommand,
  type SubmitCommand,
} from './commands.ts'
import type { Evidence } from './evidence.ts'
import { Holds } from './holds.ts'
import { declineLegs, failLeg, postLeg } from './legs.ts'
import { type AccountView, type Effect, FIRST, type SubmissionReceipt, viewAs } from './outcome.ts'
import { beginExchange, beginSupplyChange, beginTransfer, failing } from './pending.ts'
import { completed, entered, enterFact, submitted } from './record.ts'
import { beginCapture } from './payment-holds/capture.ts'
import { beginRefund } from './returns/refunds.ts'
import { type AccountData, type AccountKey, type AccountStatus, availableOf } from './state.ts'
import type { FailureCode } from './transaction.ts'
import { type AccountChange, Turn } from './turn.ts'

/** `key`: null for an account without a registered key. */
export interface Opening {
  readonly accountId: string
  readonly shardId: number
  readonly key: AccountKey | null
  readonly clientId: string
}

/** A new account with the first entry of its chain. */
export function openAccount({ accountId, shardId, key, clientId }: Opening, stamp: Stamp): AccountChange {
  const { atMs, salt } = stamp
  const entry = appendEntry(GENESIS, {
    account_id: accountId,
    created_at: isoTimestamp(atMs),
    format: ENTRY_FORMAT,
    key_id: key?.keyId ?? null,
    kind: 'registration',
    public_key: key?.publicKey ?? null,
    salt,
    sequence: 0,
    txn_id: null,
  })
  const data: AccountData = {
    kind: 'account',
    accountId,
    shardId,
    incoming: 'accept',
    key,
    version: 1,
    sequence: 0,
    tip: entry.auditHash,
    balances: Balances.NONE,
    holds: Holds.NONE,
    nftCount: 0,
    nftRoom: 0,
    completedCount: 0,
    failedCount: 0,
    registeredBy: clientId,
    createdAtMs: atMs,
    updatedAtMs: atMs,
    lastTimeMs: atMs,
  }
  const effects: Effect[] = [{ kind: 'entry_appended', entry }]
  if (key !== null) effects.push({ kind: 'key_registered', key, fromSequence: 0, atMs })
  return { data, effects }
}

/** A created account has version 1, whatever the same command does to it. */
export function inOneWrite(opened: AccountChange, { data, effects, ...rest }: AccountChange): AccountChange {
  return { data: { ...data, version: opened.data.version }, effects: [...opened.effects, ...effects], ...rest }
}

export function open(command: RegisterCommand, to: StatusContext): AccountChange {
  const { accountId, shardId, key, caller } = command
  const { data, effects } = openAccount({ accountId, shardId, key, clientId: caller.clientId }, command)
  return registered(data, effects, command, to)
}

export function claim(account: AccountData, command: RegisterCommand, to: StatusContext): AccountChange {
  const turn = new Turn(account, command)
  enterFact(turn, { kind: 'key_registration', key_id: command.key.keyId, public_key: command.key.publicKey })
  const { data: claimed, effects } = turn.done({ key: command.key })
  const keyed: Effect = {
    kind: 'key_registered',
    key: command.key,
    fromSequence: claimed.sequence,
    atMs: claimed.updatedAtMs,
  }
  const registeredBy = account.registeredBy === '' ? command.caller.clientId : account.registeredBy
  return registered({ ...claimed, registeredBy }, [...effects, keyed], command, to)
}

function registered(
  data: AccountData,
  effects: readonly Effect[],
  command: RegisterCommand,
  { status }: StatusContext,
): AccountChange {
  const account = viewAs(data, status)
  const answer = { kind: 'registered', account, created: true, ...FIRST } as const
  const use = keyUseOf(command)
  if (use === undefined) return { data, effects, answer }
  const record = recorded('registration', account, use.idempotencyKey, payloadHashOf(command), command.key)
  return { data, effects: [...effects, record], answer }
}

/** Applies a submission, fails it, or sends it to its decider. */
export function post(turn: Turn, command: SubmitCommand, { transaction }: Pick<Evidence, 'transaction'>): void {
  const { submission } = command
  if (submission.capture !== undefined) return beginCapture(turn, command, submission.capture)
  if (submission.refunds !== null) return beginRefund(turn, command, transaction)
  if (submission.termsHash !== null) return postLeg(turn, command)
  switch (submission.type) {
    case 'credit':
      return credit(turn, command)
    case 'transfer':
      return submission.toAccountId === null
        ? debit(turn, command)
        : beginTransfer(turn, command, submission.toAccountId)
    case 'exchange':
      return submission.receive === null ? debit(turn, command) : beginExchange(turn, command, submission.receive)
    case 'debit':
      return debit(turn, command)
    case 'mint':
    case 'burn':
      return beginSupplyChange(turn, command, submission.type)
  }
}

/** Value comes in from an external account. */
function credit(turn: Turn, command: SubmitCommand): void {
  const { tokenId, amount } = command.submission
  const quantity = parseQuantity(amount)
  const refused = turn.before.incoming === 'refuse' ? 'incoming_refused' : turn.lacksRoom(tokenId, quantity)
  crossBoundary(turn, command, quantity, refused)
}

/** Value leaves to an external account. */
function debit(turn: Turn, command: SubmitCommand): void {
  const { tokenId, amount } = command.submission
  const quantity = parseQuantity(amount)
  const refused = availableOf(turn.balance(tokenId)) < quantity ? 'insufficient_funds' : undefined
  crossBoundary(turn, command, -quantity, refused)
}

function crossBoundary(turn: Turn, command: SubmitCommand, quantity: Quantity, refused: FailureCode | undefined): void {
  if (refused !== undefined) return failing(turn, submitted(turn, command), refused)
  const { tokenId } = command.submission
  turn.change(tokenId, { balance: quantity })
  turn.note({ kind: 'boundary_crossed', tokenId, quantity })
  entered(turn, completed(turn, submitted(turn, command)))
}

/** A failed leg of a registered group also notifies its group. */
export function fail(turn: Turn, command: SubmitCommand, code: FailureCode): void {
  if (command.submission.termsHash !== null) failLeg(turn, command, code)
  else failing(turn, submitted(turn, command), code)
}

export function rotateKey(account: AccountData, command: RotateKeyCommand, { status }: StatusContext): AccountChange {
  const turn = new Turn(account, command)
  enterFact(turn, {
    kind: 'key_rotation',
    key_id: command.newKey.keyId,
    public_key: command.newKey.publicKey,
    submission_hash: command.payloadHash,
  })
  const { data, effects } = turn.done({ key: command.newKey })
  const view = viewAs(data, status)
  return {
    data,
    effects: [
      ...effects,
      { kind: 'key_registered', key: command.newKey, fromSequence: data.sequence, atMs: data.updatedAtMs },
      recorded('key_rotation', view, command.idempotencyKey, command.payloadHash, account.key),
    ],
    answer: { kind: 'rotated', account: view, ...FIRST },
  }
}

/** Records the use of an idempotency key, for replays. `acceptedUnder`: the account's key at the time. */
function recorded(
  operation: 'registration' | 'key_rotation' | 'status_change',
  answer: AccountView,
  idempotencyKey: string,
  payloadHash: string,
  acceptedUnder: AccountKey | null,
): Effect {
  return {
    kind: 'operation_recorded',
    operation: {
      accountId: answer.accountId,
      operation,
      idempotencyKey,
      payloadHash,
      keyId: acceptedUnder?.keyId ?? '',
      answer,
      atMs: answer.updatedAtMs,
    },
    acceptedUnder,
  }
}

/** Closing declines the legs that other clients expect of the account: their groups end those legs. */
export function close(account: AccountData, command: ChangeStatusCommand, to: StatusContext): AccountChange {
  const turn = new Turn(account, command)
  const changed = enterStatus(turn, command, to)
  declineLegs(turn, null)
  return statusChanged(turn, command, changed, to)
}

export function changeStatus(account: AccountData, command: ChangeStatusCommand, to: StatusContext): AccountChange {
  const turn = new Turn(account, command)
  return statusChanged(turn, command, enterStatus(turn, command, to), to)
}

/** Keeps the status; the incoming policy may change. */
export function keepStatus(account: AccountData, command: ChangeStatusCommand, to: StatusContext): AccountChange {
  const turn = new Turn(account, command)
  const { incoming } = account
  const isSame = incoming === (command.incoming ?? incoming)
  return statusChanged(turn, command, isSame ? { incoming } : enterStatus(turn, command, to), to)
}

interface StatusContext {
  readonly status: AccountStatus
}

type Policy = Pick<AccountData, 'incoming'>

function enterStatus(turn: Turn, { incoming: wished, reason }: ChangeStatusCommand, { status }: StatusContext): Policy {
  const incoming = wished ?? turn.before.incoming
  enterFact(turn, { kind: 'status_change', status, incoming, reason })
  return { incoming }
}

function statusChanged(
  turn: Turn,
  command: ChangeStatusCommand,
  policy: Policy,
  { status }: StatusContext,
): AccountChange {
  const { data, effects } = turn.done(policy)
  const view = viewAs(data, status)
  const answer = { kind: 'status_changed', account: view } as const
  const use = keyUseOf(command)
  if (use === undefined) return { data, effects, answer }
  const record = recorded('status_change', view, use.idempotencyKey, payloadHashOf(command), turn.before.key)
  return { data, effects: [...effects, record], answer }
}

/** Removes all data that identifies the holder. The balances of a closed account are zero. */
export function erase(account: AccountData, command: EraseCommand, { status }: StatusContext): AccountChange {
  const turn = new Turn(account, command)
  enterFact(turn, { kind: 'erasure', reason: command.reason })
  turn.note({ kind: 'account_erased' })
  const { data: erased, effects } = turn.done({ key: null })
  const { arrived: _arrived, moved: _moved, issues: _issues, paused: _paused, ...left } = erased
  const data = { ...left, registeredBy: '', balances: Balances.NONE }
  return { data, effects, answer: { kind: 'status_changed', account: viewAs(data, status) } }
}

/** Adds the receipt; it shows the group ID that a transfer without one was given. */
export function accepted({ data, effects }: AccountChange, command: SubmitCommand): AccountChange {
  const { accountId, shardId } = data
  const receipt: SubmissionReceipt = {
    txnId: command.newTxnId,
    accountId,
    shardId,
    enqueuedAtMs: command.atMs,
    groupId: groupIdOf(effects) ?? command.submission.groupId,
  }
  return { data, effects, answer: { kind: 'accepted', receipt, ...FIRST } }
}

function groupIdOf(effects: readonly Effect[]): string | null {
  for (const effect of effects) if (effect.kind === 'transaction_entered') return effect.transaction.groupId
  return null
}
