/** The rows of an account's end: it transfers its holdings, is closed, and is erased. */
import { Balances } from '../../../actors/account/balances.ts'
import type { AccountState } from '../../../actors/account/state.ts'
import { BASE_UNIT, ZERO } from '../../../actors/money.ts'
import { chainEntry } from '../chain.ts'
import { type Change, NO_ROWS, SALT } from './ledger-rows.ts'

/** Nothing is left in its balance of the base unit, and it is closed. */
export function debitAll(before: AccountState): Change {
  const atMs = before.lastTimeMs + 1
  const entry = chainEntry(before.tip, before.sequence + 1, null, SALT, { kind: 'status_change', status: 'closed' })
  const balance = { balance: ZERO, reserved: ZERO, incoming: ZERO, room: ZERO, updatedAtMs: atMs }
  const account: AccountState = {
    ...advanced(before, atMs),
    status: 'closed',
    sequence: entry.sequence,
    tip: entry.auditHash,
    balances: Balances.of([[BASE_UNIT, balance]]),
  }
  return {
    account,
    rows: {
      ...NO_ROWS,
      accounts: [{ previousVersion: before.version, account }],
      balances: [{ accountId: account.accountId, tokenId: BASE_UNIT, balance }],
      entries: [{ accountId: account.accountId, ...entry }],
    },
  }
}

export function eraseAccount(before: AccountState): Change {
  const { accountId } = before
  const entry = chainEntry(before.tip, before.sequence + 1, null, SALT, { kind: 'erasure', account_id: accountId })
  const account: AccountState = {
    ...advanced(before, before.lastTimeMs + 1),
    status: 'erased',
    key: null,
    registeredBy: '',
    sequence: entry.sequence,
    tip: entry.auditHash,
    balances: Balances.NONE,
  }
  return {
    account,
    rows: {
      ...NO_ROWS,
      accounts: [{ previousVersion: before.version, account }],
      entries: [{ accountId, ...entry }],
      erased: [accountId],
    },
  }
}

/** It was asked for something and said no: only its row is written. */
export function statusRefused(before: AccountState): Change {
  const account = advanced(before, before.lastTimeMs + 1)
  return { account, rows: { ...NO_ROWS, accounts: [{ previousVersion: before.version, account }] } }
}

function advanced(before: AccountState, atMs: number): AccountState {
  return { ...before, version: before.version + 1, updatedAtMs: atMs, lastTimeMs: atMs }
}
