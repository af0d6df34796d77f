/**
 * What commands do to an account, as arithmetic: the machine decides which of these runs.
 *   A1. available = balance - reserved, and neither is ever negative.
 *   A2. A balance never leaves 18+18 digits.
 *   A3. What completes is one entry in the chain; what fails is none, and is counted all the same.
 *   A4. Time within an account never goes back.
 */
import { appendEntry, type AuditEntry, ENTRY_FORMAT } from '../audit-chain.ts'
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
  const entry = appendEntry(GENESIS, {
    account_id: command.accountId,
    created_at: isoTimestamp(command.atMs),
    format: ENTRY_FORMAT,
    key_id: command.key.keyId,
    kind: 'registration',
    public_key: command.key.publicKey,
    salt: command.salt,
    sequence: 0,
    txn_id: null,
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
  const entry = appendEntry(account.tip, {
    account_id: account.accountId,
    amount: submission.amount,
    balance: formatQuantity(balance),
    created_at: isoTimestamp(command.atMs),
    format: ENTRY_FORMAT,
    group_id: submission.groupId,
    key_id: keyIdOf(account),
    kind: 'transaction',
    metadata: submission.metadata,
    origin: 'client',
    processed_at: isoTimestamp(processedAtMs),
    salt: command.salt,
    sequence,
    shard_id: account.shardId,
    submission_hash: command.payloadHash,
    token_id: submission.tokenId,
    txn_id: command.txnId,
    type: submission.type,
  })
  const held = balanceOf(account, submission.tokenId)
  const transaction = decided(account, command, processedAtMs, entry, null)
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
  const transaction = decided(account, command, processedAtMs, null, { code, detail: FAILURES[code] })
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
  const entry = appendEntry(account.tip, {
    ...fields,
    account_id: account.accountId,
    format: ENTRY_FORMAT,
    processed_at: isoTimestamp(atMs),
    salt: command.salt,
    sequence,
    txn_id: null,
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

/** With its entry it is completed, with a failure it has failed. */
function decided(
  account: AccountState,
  command: SubmitCommand,
  processedAtMs: number,
  entry: AuditEntry | null,
  failure: Failure | null,
): Transaction {
  const { submission } = command
  return {
    txnId: command.txnId,
    accountId: account.accountId,
    shardId: account.shardId,
    type: submission.type,
    amount: submission.amount,
    tokenId: submission.tokenId,
    groupId: submission.groupId,
    status: failure === null ? 'completed' : 'failed',
    failure,
    origin: 'client',
    metadata: submission.metadata,
    createdAtMs: command.atMs,
    processedAtMs,
    sequence: entry?.sequence ?? null,
    previousHash: entry?.previousHash ?? null,
    auditHash: entry?.auditHash ?? null,
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
