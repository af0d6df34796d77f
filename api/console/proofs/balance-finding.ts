import type { AuditEntry, TokenBalance, VerifiedEntry } from '../../client/index.ts'
import { chainFinding } from './chain-finding.ts'
import { addDecimals, sameDecimal } from './decimals.ts'
import type { Finding } from './finding.ts'

const UNPROVED = [
  'The available part: value that pending orders reserve is in no entry yet.',
  'That the ledger shows everyone this same chain: compare its last hash with one that you kept.',
]

/** Whether the account's chain states these balances. `tip`: read before the entries and the balances. */
export async function balanceFinding(
  entries: readonly AuditEntry[],
  tip: string,
  balances: readonly TokenBalance[],
): Promise<Finding> {
  const found = await chainFinding(entries, tip)
  if (found.chain === undefined) return found
  if (found.chain.erased > 0) {
    return { outcome: 'unproved', problem: 'The entries of this account are erased.', proved: [], unproved: [] }
  }
  const stated = statedBalances([...found.chain.entries.values()])
  const wrong = balances.find(({ token_id: token, balance }) => !sameDecimal(stated.get(token) ?? '0', balance))
  if (wrong !== undefined) {
    const chainHas = stated.get(wrong.token_id) ?? '0'
    return {
      outcome: 'tampered',
      problem: `The balance of ${wrong.token_id}: the ledger shows ${wrong.balance}, but the chain states ${chainHas}.`,
      proved: [],
      unproved: [],
    }
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
