/**
 * What clients' commands do to an account, as arithmetic: the machine decides which of these runs. What is decided
 * elsewhere is in pending.ts, legs of registered groups in legs.ts.
 */
import { appendEntry, ENTRY_FORMAT, GENESIS } from '../audit-chain.ts'
import type { JsonObject } from '../canonical-json.ts'
import type { Stamp } from '../message.ts'
import { parseQuantity } from '../money.ts'
import { isoTimestamp } from '../timestamp.ts'
import {
  type ChangeStatusCommand,
  type EraseCommand,
  keyUseOf,
  payloadHashOf,
  type RegisterCommand,
  type RotateKeyCommand,
  type SubmitCommand,
} from './commands.ts'
import { declineLegs, failLeg, postLeg } from './legs.ts'
import { type Effect, viewOf } from './outcome.ts'
import { beginExchange, beginSupplyChange, beginTransfer } from './pending.ts'
import { completed, entered, failed, submitted } from './record.ts'
import { type AccountKey, type AccountState, availableOf } from './state.ts'
import { failure, type FailureCode } from './transaction.ts'
import { type Posted, Turn } from './turn.ts'

/** An account that nobody has the key of yet has none. */
export interface Opening {
  readonly accountId: string
  readonly shardId: number
  readonly key: AccountKey | null
  readonly clientId: string
}

/** A new account, with the entry that is its chain's first. */
export function openAccount({ accountId, shardId, key, clientId }: Opening, stamp: Stamp): Posted {
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
  const account: AccountState = {
    accountId,
    shardId,
    status: 'active',
    incoming: 'accept',
    key,
    version: 1,
    sequence: 0,
    tip: entry.auditHash,
    balances: new Map(),
    holds: new Map(),
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
  return { account, effects }
}

export function open(command: RegisterCommand): Posted {
  const { accountId, shardId, key, caller } = command
  const opened = openAccount({ accountId, shardId, key, clientId: caller.clientId }, command)
  return { ...opened, effects: [...opened.effects, ...registrationOf(opened.account, command)] }
}

/** A keyless account gets its first key. */
export function claim(account: AccountState, command: RegisterCommand): Posted {
  const turn = new Turn(account, command)
  enterFact(turn, { kind: 'key_registration', key_id: command.key.keyId, public_key: command.key.publicKey })
  const { account: claimed, effects } = turn.done({ key: command.key })
  const registered: Effect = {
    kind: 'key_registered',
    key: command.key,
    fromSequence: claimed.sequence,
    atMs: claimed.updatedAtMs,
  }
  const registeredBy = account.registeredBy === '' ? command.caller.clientId : account.registeredBy
  return {
    account: { ...claimed, registeredBy },
    effects: [...effects, registered, ...registrationOf(claimed, command)],
  }
}

function registrationOf(account: AccountState, command: RegisterCommand): readonly Effect[] {
  const use = keyUseOf(command)
  return use === undefined
    ? []
    : [recorded(account, 'registration', use.idempotencyKey, payloadHashOf(command), command.key)]
}

/** Applies a submission, fails it, or sends it to who decides. */
export function post(account: AccountState, command: SubmitCommand): Posted {
  const { submission } = command
  if (submission.termsHash !== null) return postLeg(account, command)
  switch (submission.type) {
    case 'credit':
      return credit(account, command)
    case 'transfer':
      return submission.toAccountId === null
        ? debit(account, command)
        : beginTransfer(account, command, submission.toAccountId)
    case 'exchange':
      return submission.receive === null ? debit(account, command) : beginExchange(account, command, submission.receive)
    case 'debit':
      return debit(account, command)
    case 'mint':
    case 'burn':
      return beginSupplyChange(account, command, submission.type)
  }
}

/** In from outside the ledger. */
function credit(account: AccountState, command: SubmitCommand): Posted {
  const { tokenId, amount } = command.submission
  const quantity = parseQuantity(amount)
  const turn = new Turn(account, command)
  if (account.incoming === 'refuse') return failing(turn, command, 'incoming_refused')
  const lacks = turn.lacksRoom(tokenId, quantity)
  if (lacks !== undefined) return failing(turn, command, lacks)
  turn.change(tokenId, { balance: quantity })
  turn.note({ kind: 'boundary_crossed', tokenId, quantity })
  entered(turn, completed(turn, submitted(turn, command)))
  return turn.done()
}

/** Out of the ledger. */
function debit(account: AccountState, command: SubmitCommand): Posted {
  const { tokenId, amount } = command.submission
  const quantity = parseQuantity(amount).negated()
  const turn = new Turn(account, command)
  if (availableOf(turn.balance(tokenId)).plus(quantity).isNegative())
    return failing(turn, command, 'insufficient_funds')
  turn.change(tokenId, { balance: quantity })
  turn.note({ kind: 'boundary_crossed', tokenId, quantity })
  entered(turn, completed(turn, submitted(turn, command)))
  return turn.done()
}

function failing(turn: Turn, command: SubmitCommand, code: FailureCode): Posted {
  entered(turn, failed(turn, submitted(turn, command), failure(code)))
  return turn.done()
}

/** The transaction is final and failed; a leg of a registered group tells its group. */
export function fail(account: AccountState, command: SubmitCommand, code: FailureCode): Posted {
  if (command.submission.termsHash !== null) return failLeg(account, command, code)
  return failing(new Turn(account, command), command, code)
}

export function rotateKey(account: AccountState, command: RotateKeyCommand): Posted {
  const turn = new Turn(account, command)
  enterFact(turn, {
    kind: 'key_rotation',
    key_id: command.newKey.keyId,
    public_key: command.newKey.publicKey,
    submission_hash: command.payloadHash,
  })
  const { account: rotated, effects } = turn.done({ key: command.newKey })
  return {
    account: rotated,
    effects: [
      ...effects,
      { kind: 'key_registered', key: command.newKey, fromSequence: rotated.sequence, atMs: rotated.updatedAtMs },
      recorded(rotated, 'key_rotation', command.idempotencyKey, command.payloadHash, account.key),
    ],
  }
}

/** What the key did, so that a repeat gets the same answer. `acceptedUnder`: the account's key at the time. */
function recorded(
  account: AccountState,
  operation: 'registration' | 'key_rotation' | 'status_change',
  idempotencyKey: string,
  payloadHash: string,
  acceptedUnder: AccountKey | null,
): Effect {
  return {
    kind: 'operation_recorded',
    operation: {
      accountId: account.accountId,
      operation,
      idempotencyKey,
      payloadHash,
      keyId: acceptedUnder?.keyId ?? '',
      answer: viewOf(account),
      atMs: account.updatedAtMs,
    },
    acceptedUnder,
  }
}

export function changeStatus(account: AccountState, command: ChangeStatusCommand): Posted {
  const status = command.status ?? account.status
  const incoming = command.incoming ?? account.incoming
  const turn = new Turn(account, command)
  const isSame = status === account.status && incoming === account.incoming
  if (!isSame) enterFact(turn, { kind: 'status_change', status, incoming, reason: command.reason })
  if (status === 'closed') declineLegs(turn, null)
  const changed = turn.done({ status, incoming })
  const use = keyUseOf(command)
  if (use === undefined) return changed
  const { idempotencyKey } = use
  const kept = recorded(changed.account, 'status_change', idempotencyKey, payloadHashOf(command), account.key)
  return { ...changed, effects: [...changed.effects, kept] }
}

/** What is left says nothing of whose it was. A closed account holds nothing: its balances are zero. */
export function erase(account: AccountState, command: EraseCommand): Posted {
  const turn = new Turn(account, command)
  enterFact(turn, { kind: 'erasure', reason: command.reason })
  turn.note({ kind: 'account_erased' })
  const { account: erased, effects } = turn.done({ status: 'erased', key: null })
  const { arrived: _arrived, moved: _moved, issues: _issues, ...left } = erased
  return { account: { ...left, registeredBy: '', balances: new Map() }, effects }
}

/** An entry that is no transaction. */
export function enterFact(turn: Turn, fields: JsonObject): void {
  turn.enter((sequence) => ({
    ...fields,
    account_id: turn.before.accountId,
    format: ENTRY_FORMAT,
    processed_at: isoTimestamp(turn.timeMs),
    salt: turn.stamp.salt,
    sequence,
    txn_id: null,
  }))
}
