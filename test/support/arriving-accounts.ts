/** Accounts that come from another ledger: what their home is asked, and what it says. */
import type {
  AccountArrivalCommand,
  AccountCommand,
  AccountMessageCommand,
  NoteUsedKeysCommand,
} from '../../actors/account/commands.ts'
import type { Effect } from '../../actors/account/outcome.ts'
import type { AccountState } from '../../actors/account/state.ts'
import type { Evidence } from '../../actors/account/evidence.ts'
import type { StepResult } from '../../actors/define-actor.ts'
import type { ArrivedFrom, ArrivingAccount } from '../../actors/arrival.ts'
import { BASE_UNIT, formatQuantity } from '../../actors/money.ts'
import { ACCOUNT, CALLER, KEY, SALT, SIGNED, START_MS, stepAccount } from './accounts.ts'

export const ADMIN = { ...CALLER, role: 'admin' } as const
export const STAMP = { caller: ADMIN, atMs: START_MS, salt: SALT, newTxnId: 'txn_0' }
export const HASH = 'a'.repeat(64)
export const FROM: ArrivedFrom = { ledgerId: 'there', importId: 'import-1', recordHash: HASH }
export const LATER: ArrivedFrom = { ...FROM, importId: 'import-2' }
export const KEY_SALT = '0'.repeat(32)

export const ARRIVING: ArrivingAccount = {
  key: KEY,
  status: 'active',
  incoming: 'accept',
  balances: { [BASE_UNIT]: '12.5', GOLD: '3' },
  nfts: 2,
  keySalt: KEY_SALT,
  txnCount: 41,
  tip: HASH,
  createdAt: '2025-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
}

export function received(amount: string): AccountMessageCommand {
  return {
    ...STAMP,
    type: 'receive_transfer',
    ...OF_ACCOUNT,
    txnId: 'txn_there',
    fromAccountId: 'bob',
    tokenId: BASE_UNIT,
    amount,
    groupId: 'group',
    metadata: null,
    expiresAtMs: null,
    compensates: null,
  }
}

export const OF_ACCOUNT = { accountId: ACCOUNT, shardId: 7 }

export function hold(arrival: ArrivingAccount | null = ARRIVING, from = FROM): AccountArrivalCommand {
  return { ...STAMP, type: 'hold_arrival', ...OF_ACCOUNT, from, arrival }
}
export function take({ importId } = FROM): AccountArrivalCommand {
  return { ...STAMP, type: 'take_arrival', ...OF_ACCOUNT, importId }
}
export function drop({ importId } = FROM): AccountArrivalCommand {
  return { ...STAMP, type: 'drop_arrival', ...OF_ACCOUNT, importId }
}
export function note(part: number, hashes: readonly string[] = [], { importId } = FROM): NoteUsedKeysCommand {
  return { ...STAMP, type: 'note_used_keys', accountId: ACCOUNT, importId, part, hashes }
}

interface Walked {
  account: AccountState | null
  readonly effects: Effect[]
}

export function walked(...commands: AccountCommand[]): Walked {
  const at: Walked = { account: null, effects: [] }
  for (const command of commands) {
    const result = stepAccount(at.account, command, { ...SIGNED, usedElsewhere: false })
    if (result.kind !== 'stepped') throw new Error(`${command.type} changed nothing: ${JSON.stringify(result)}`)
    at.account = result.state
    at.effects.push(...result.effects)
  }
  return at
}

export function accountOf({ account }: Pick<Walked, 'account'>): AccountState {
  if (account === null) throw new Error('there is no account')
  return account
}

function answerOf(result: StepResult<unknown>): unknown {
  if (result.kind === 'unverified' || result.kind === 'stale_look_up') return result.kind
  const { answer } = result
  if (answer === null || answer === 'deferred') return answer
  if (answer.kind === 'arrival') return answer.state
  return answer.kind === 'refused' ? answer.code : answer.kind
}

export function ask(
  { account }: Pick<Walked, 'account'>,
  command: AccountCommand,
  evidence: Evidence = SIGNED,
): string {
  return `${stepAccount(account, command, evidence).kind} ${String(answerOf(stepAccount(account, command, evidence)))}`
}

export function balancesOf(account: AccountState): Record<string, string> {
  return Object.fromEntries([...account.balances].map(([token, { balance }]) => [token, formatQuantity(balance)]))
}

export const ABSENT = { account: null }
