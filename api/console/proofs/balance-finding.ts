import type { AuditEntry, TokenBalance, VerifiedEntry } from '../../client/index.ts'
import { type ChainSubject, chainFinding } from './chain-finding.ts'
import { addDecimals, sameDecimal } from './decimals.ts'
import { type Finding, tampered } from './finding.ts'

const UNPROVED = [
  'The available part: value that pending orders reserve is in no entry yet.',
  'The incoming value and the time of the last change: the check compares the balances alone.',
  'That the ledger shows everyone this same chain: compare its last hash with one that you kept.',
]

/**
 * Whether the account's chain states these balances, and no other. They may be older than the end of the chain, if an
 * order came since: each must be the balance at `tip` or after a later entry.
 */
export async function balanceFinding(
  entries: readonly AuditEntry[],
  subject: ChainSubject,
  balances: readonly TokenBalance[],
): Promise<Finding> {
  const found = await chainFinding(entries, subject)
  if (found.chain === undefined) return found
  if (found.chain.erased > 0) {
    return { outcome: 'unproved', problem: 'The entries of this account are erased.', proved: [], unproved: [] }
  }
  const inOrder = [...found.chain.entries.values()].toSorted((one, other) => one.sequence - other.sequence)
  const known = inOrder.findIndex(({ audit_hash: hash }) => hash === subject.tip)
  const states = inOrder.slice(known).map((_, later) => statedBalances(inOrder.slice(0, known + later + 1)))
  const tokens = new Set([
    ...balances.map(({ token_id: token }) => token),
    ...states.flatMap((state) => [...state.keys()]),
  ])
  for (const token of tokens) {
    const balance = balances.find(({ token_id: one }) => one === token)?.balance ?? '0'
    if (states.some((state) => sameDecimal(state.get(token) ?? '0', balance))) continue
    const chainHas = states.at(-1)?.get(token) ?? '0'
    return tampered(`The balance of ${token}: the ledger shows ${balance}, but the chain states ${chainHas}.`)
  }
  const proved = balances.map(({ token_id: token, balance }) => `The chain states the balance of ${balance} ${token}.`)
  return { outcome: 'verified', proved: [...proved, ...found.proved], unproved: UNPROVED }
}

/** The balance of each token after the last of these entries, which are in order. */
export function statedBalances(entries: readonly VerifiedEntry[]): ReadonlyMap<string, string> {
  const stated = new Map<string, string>()
  for (const { fields } of entries) {
    if (fields === null) continue
    for (const part of [fields, fields['receive']]) {
      const { token_id: token, balance_after: balance }: Readonly<Record<string, unknown>> = membersOf(part)
      if (typeof token === 'string' && typeof balance === 'string') stated.set(token, balance)
    }
    for (const [token, brought] of Object.entries(membersOf(fields['balances']))) {
      if (typeof brought === 'string') stated.set(token, addDecimals(stated.get(token) ?? '0', brought))
    }
  }
  return stated
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
