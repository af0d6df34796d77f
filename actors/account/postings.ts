/**
 * What commands do to an account, as arithmetic: the machine decides which of these runs.
 *   A1. available = balance - reserved, and neither is ever negative.
 *   A2. A balance never leaves 18+18 digits.
 *   A3. What completes is one entry in the chain; what fails is none, and is counted all the same.
 *   A4. Time within an account never goes back.
 */
import { appendEntry } from '../audit-chain.ts'
import type { JsonObject } from '../canonical-json.ts'
import { formatQuantity, LARGEST, parseQuantity, type Quantity } from '../money.ts'
import { GENESIS } from '../audit-chain.ts'
import { isoTimestamp } from '../timestamp.ts'
import {
  type ChangeStatusCommand,
  keyUseOf,
  payloadHashOf,
  type RegisterCommand,
  type RotateKeyCommand,
  type SubmitCommand,
} from './commands.ts'
import {
  type Effect,
  type Failure,
  type FailureCode,
  type RecordedOperation,
  type Transaction,
  viewOf,
} from './outcome.ts'
import { type AccountKey, type AccountState, availableOf, balanceOf } from './state.ts'

/** An account after a command, and the facts that are new. */
export interface Posted {
  readonly account: AccountState
  readonly effects: readonly Effect[]
}

export function open(command: RegisterCommand): Posted {
  const entry = appendEntry(GENESIS, 0, null, command.salt, {
    kind: 'registration',
    account_id: command.accountId,
    key_id: command.key.keyId,
    public_key: command.key.publicKey,
    created_at: isoTimestamp(command.atMs),
  })
  const account: AccountState = {
    accountId: command.accountId,
    shardId: command.shardId,
    status: 'active',
    incoming: 'accept',
    key: command.key,
    version: 1,
    sequence: 0,
    tip: entry.auditHash,
    balances: new Map(),
    completedCount: 0,
    failedCount: 0,
    registeredBy: command.caller.clientId,
    createdAtMs: command.atMs,
    updatedAtMs: command.atMs,
    lastTimeMs: command.atMs,
  }
  const effects: Effect[] = [
    { kind: 'entry_appended', entry },
    { kind: 'key_registered', key: command.key, fromSequence: 0, atMs: command.atMs },
  ]
  const use = keyUseOf(command)
  if (use !== undefined)
    effects.push(recorded(account, 'registration', use.idempotencyKey, payloadHashOf(command), command.key))
  return { account, effects }
}

/** Applies a credit or debit in one asset, or fails it: either way the transaction is final. */
export function post(account: AccountState, command: SubmitCommand): Posted {
  const { submission } = command
  const amount = parseQuantity(submission.amount)
  const held = balanceOf(account, submission.tokenId)
  if (submission.type === 'credit') {
    if (account.incoming === 'refuse') return fail(account, command, 'incoming_refused')
    if (held.balance.plus(held.incoming).plus(amount).greaterThan(LARGEST))
      return fail(account, command, 'balance_limit')
    return complete(account, command, held.balance.plus(amount))
  }
  if (availableOf(held).lessThan(amount)) return fail(account, command, 'insufficient_funds')
  return complete(account, command, held.balance.minus(amount))
}

function complete(account: AccountState, command: SubmitCommand, balance: Quantity): Posted {
  const { submission } = command
  const processedAtMs = Math.max(command.atMs, account.lastTimeMs)
  const sequence = account.sequence + 1
  const entry = appendEntry(account.tip, sequence, command.txnId, command.salt, {
    kind: 'transaction',
    account_id: account.accountId,
    amount: submission.amount,
    balance: formatQuantity(balance),
    created_at: isoTimestamp(command.atMs),
    group_id: submission.groupId,
    key_id: keyIdOf(account),
    metadata: submission.metadata,
    origin: 'client',
    processed_at: isoTimestamp(processedAtMs),
    shard_id: account.shardId,
    submission_hash: command.payloadHash,
    token_id: submission.tokenId,
    type: submission.type,
  })
  const held = balanceOf(account, submission.tokenId)
  const transaction: Transaction = {
    ...undecided(account, command, processedAtMs),
    status: 'completed',
    failure: null,
    sequence,
    previousHash: entry.previousHash,
    auditHash: entry.auditHash,
  }
  return {
    account: {
      ...account,
      version: account.version + 1,
      sequence,
      tip: entry.auditHash,
      balances: new Map(account.balances).set(submission.tokenId, { ...held, balance, updatedAtMs: processedAtMs }),
      completedCount: account.completedCount + 1,
      updatedAtMs: processedAtMs,
      lastTimeMs: processedAtMs,
    },
    effects: [
      { kind: 'entry_appended', entry },
      { kind: 'balance_changed', tokenId: submission.tokenId },
      { kind: 'transaction_decided', transaction },
    ],
  }
}

const FAILURES: Record<FailureCode, string> = {
  insufficient_funds: 'The amount is larger than the available balance.',
  balance_limit: 'The balance would leave 18 integer digits.',
  asset_limit: 'The account holds as many assets as an account may.',
  account_frozen: 'The account is frozen: it may only receive.',
  account_closed: 'The account is closed.',
  incoming_refused: 'The account refuses incoming value.',
}

/** The transaction is final and failed: nothing moves, the chain does not grow, the key is used up. */
export function fail(account: AccountState, command: SubmitCommand, code: FailureCode): Posted {
  const processedAtMs = Math.max(command.atMs, account.lastTimeMs)
  const failure: Failure = { code, detail: FAILURES[code] }
  const transaction: Transaction = {
    ...undecided(account, command, processedAtMs),
    status: 'failed',
    failure,
    sequence: null,
    previousHash: null,
    auditHash: null,
  }
  return {
    account: {
      ...account,
      version: account.version + 1,
      failedCount: account.failedCount + 1,
      lastTimeMs: processedAtMs,
    },
    effects: [{ kind: 'transaction_decided', transaction }],
  }
}

export function rotateKey(account: AccountState, command: RotateKeyCommand): Posted {
  const next = entered(account, command, {
    kind: 'key_rotation',
    key_id: command.newKey.keyId,
    public_key: command.newKey.publicKey,
    submission_hash: command.payloadHash,
  })
  const rotated: AccountState = { ...next.account, key: command.newKey }
  return {
    account: rotated,
    effects: [
      ...next.effects,
      { kind: 'key_registered', key: command.newKey, fromSequence: rotated.sequence, atMs: rotated.updatedAtMs },
      recorded(rotated, 'key_rotation', command.idempotencyKey, command.payloadHash, account.key),
    ],
  }
}

/** What the key did, so that a repeat gets the same answer. `acceptedUnder`: the account's key at the time. */
function recorded(
  account: AccountState,
  operation: RecordedOperation['operation'],
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
  }
}

export function changeStatus(account: AccountState, command: ChangeStatusCommand): Posted {
  const status = command.status ?? account.status
  const incoming = command.incoming ?? account.incoming
  const next = entered(account, command, { kind: 'status_change', status, incoming, reason: command.reason })
  return { ...next, account: { ...next.account, status, incoming } }
}

function entered(account: AccountState, command: RotateKeyCommand | ChangeStatusCommand, fields: JsonObject): Posted {
  const atMs = Math.max(command.atMs, account.lastTimeMs)
  const sequence = account.sequence + 1
  const entry = appendEntry(account.tip, sequence, null, command.salt, {
    ...fields,
    account_id: account.accountId,
    processed_at: isoTimestamp(atMs),
  })
  return {
    account: {
      ...account,
      version: account.version + 1,
      sequence,
      tip: entry.auditHash,
      updatedAtMs: atMs,
      lastTimeMs: atMs,
    },
    effects: [{ kind: 'entry_appended', entry }],
  }
}

function undecided(account: AccountState, command: SubmitCommand, processedAtMs: number) {
  const { submission } = command
  return {
    txnId: command.txnId,
    accountId: account.accountId,
    shardId: account.shardId,
    type: submission.type,
    amount: submission.amount,
    tokenId: submission.tokenId,
    groupId: submission.groupId,
    origin: 'client' as const,
    metadata: submission.metadata,
    createdAtMs: command.atMs,
    processedAtMs,
    idempotencyKey: command.idempotencyKey,
    payload: command.payload,
    payloadHash: command.payloadHash,
    signature: command.signature,
    keyId: keyIdOf(account),
  }
}

/** A signed command of a keyless account is refused before it gets here. */
function keyIdOf(account: AccountState): string {
  return account.key?.keyId ?? ''
}
