/**
 * A population drawn from a seed: an employer that pays monthly salaries, shops, and people who buy and pay each other. It
 * submits its orders to a running ledger. They are the ground truth that judges the analyst.
 */
import { type Holder, LedgerClient, textOf } from '../support/client/client.ts'
import type { Members } from '../support/client/client-keys.ts'
import { accepted, moved } from '../support/client/client-moves.ts'
import { type Cluster, until } from '../support/processes/cluster-process.ts'
import { createSeededRandom, type SeededRandom } from '../simulation/kernel/sim-random.ts'
import { shuffled } from './shuffled.ts'

export interface PopulationShape {
  readonly accounts: number
  readonly months: number
  /** Purchases and payments between people, a month. */
  readonly payments: number
}

export const SMALL: PopulationShape = { accounts: 30, months: 3, payments: 60 }
export const LARGE: PopulationShape = { accounts: 1_000, months: 2, payments: 1_100 }

interface Order {
  readonly from: number
  readonly to: number
  /** Its last digits number the order: no two orders have the same amount. */
  readonly amount: string
  /** null: none. */
  readonly memo: string | null
}

type Draft = Omit<Order, 'amount'> & { readonly amount: number }

interface Plan {
  readonly accounts: number
  /** By account, the index into `TIERS`; null: not an employee. */
  readonly tierOf: readonly (number | null)[]
  /** Orders of a phase are submitted concurrently, once the phase before is final. */
  readonly phases: readonly (readonly Order[])[]
}

/** A transfer has two rows. */
export interface TrueRow {
  readonly account: string
  readonly side: 'sender' | 'receiver'
  /** Equal on both sides of a transfer. */
  readonly transfer: number
  readonly amount: string
  /** Bytes; null: no memo. */
  readonly memo: number | null
}

export interface Truth {
  /** By transaction ID. */
  readonly rows: ReadonlyMap<string, TrueRow>
  readonly accounts: readonly string[]
  readonly employer: string
  /** Of employees. */
  readonly tiers: ReadonlyMap<string, number>
  readonly balances: ReadonlyMap<string, number>
}

const EMPLOYER = 0
const TIERS = [
  { salary: 900, share: 0.5 },
  { salary: 4_500, share: 0.35 },
  { salary: 45_000, share: 0.15 },
] as const
const ONE_SHOP_PER = 10
const PURCHASE_SHARE = 2 / 3
const PURCHASE = [3, 60] as const
const PAYMENT = [20, 200] as const
const MEMO_SHARE = 0.5
const MEMO_LIMIT = 512
const NUMBER_DIGITS = 6
const CONCURRENCY = 32
const FINAL_LIMIT_MS = 300_000

export function planOf(shape: PopulationShape, seed: number): Plan {
  const random = createSeededRandom(seed, 'population')
  const shops = Math.ceil(shape.accounts / ONE_SHOP_PER)
  const tierOf = Array.from({ length: shape.accounts }, (_, index) => (index > shops ? drawnTier(random) : null))
  const employees = tierOf.flatMap((tier, index) => (tier === null ? [] : [index]))
  const salaries = new Map(employees.map((index) => [index, salaryOf(tierOf[index] ?? 0, random)]))
  /** Salaries less payments: no payment depends on the arrival of another one. */
  const spendable = new Map<number, number>()
  const phases: Draft[][] = []
  for (let month = 0; month < shape.months; month += 1) {
    const paid = shuffled(employees, random).map((to): Draft => {
      const amount = salaries.get(to) ?? 0
      spendable.set(to, (spendable.get(to) ?? 0) + amount)
      return { from: EMPLOYER, to, amount, memo: drawnMemo(random) }
    })
    const payments = Array.from({ length: shape.payments }, () => drawnPayment(employees, shops, spendable, random))
    phases.push(paid, payments)
  }
  let number = 0
  const numbered = ({ amount, ...draft }: Draft): Order => {
    number += 1
    return { ...draft, amount: `${amount.toFixed(2)}${String(number).padStart(NUMBER_DIGITS, '0')}` }
  }
  return { accounts: shape.accounts, tierOf, phases: phases.map((phase) => phase.map(numbered)) }
}

function drawnTier(random: SeededRandom): number {
  const drawn = random.fraction()
  let below = 0
  return TIERS.findIndex(({ share }) => drawn < (below += share))
}

/** At most a tenth from the tier's: all salaries of a tier have one order of magnitude. */
function salaryOf(tier: number, random: SeededRandom): number {
  return Math.round((TIERS[tier]?.salary ?? 0) * random.between(0.9, 1.1))
}

function drawnMemo(random: SeededRandom): string | null {
  return random.chance(MEMO_SHARE) ? random.hex(MEMO_LIMIT / 2).slice(0, random.integer(MEMO_LIMIT)) : null
}

function drawnPayment(
  employees: readonly number[],
  shops: number,
  spendable: Map<number, number>,
  random: SeededRandom,
): Draft {
  for (;;) {
    const from = employees[random.integer(employees.length)] ?? 0
    const isPurchase = random.chance(PURCHASE_SHARE)
    const to = isPurchase ? 1 + random.integer(shops) : (employees[random.integer(employees.length)] ?? 0)
    const [least, most] = isPurchase ? PURCHASE : PAYMENT
    const amount = random.between(least, most)
    // An order's amount is up to a cent more.
    const left = (spendable.get(from) ?? 0) - amount - 0.01
    if (from === to || left < 0) continue
    spendable.set(from, left)
    return { from, to, amount, memo: drawnMemo(random) }
  }
}

/** Submits every order of the plan through the API. */
export async function live(cluster: Cluster, plan: Plan): Promise<Truth> {
  const client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
  try {
    const ids = Array.from({ length: plan.accounts }, (_, index) => `privacy-${index}@population`)
    const holders: Holder[] = []
    await concurrently(ids, async (id, index) => void (holders[index] = await client.register(id)))
    await moved(client, holders[EMPLOYER] as Holder, { type: 'credit', amount: '1000000000' })
    const senders = new Set<string>()
    for (const phase of plan.phases) {
      await concurrently(phase, async (order) => {
        const fields: Members = {
          type: 'transfer',
          amount: order.amount,
          to_account_id: ids[order.to] ?? '',
          ...(order.memo === null ? {} : { metadata: { memo: order.memo } }),
        }
        senders.add(textOf(await accepted(client, holders[order.from] as Holder, fields), 'txn_id'))
      })
      await until('all transactions are final', FINAL_LIMIT_MS, async () => {
        const pending = await client.read('/v1/transactions?status=pending')
        return pending['total_count'] === 0
      })
    }
    return truthOf(plan, ids, senders, await client.readAll('/v1/transactions', 'transactions'))
  } finally {
    client.close()
  }
}

function truthOf(
  plan: Plan,
  ids: readonly string[],
  senders: ReadonlySet<string>,
  transactions: readonly Members[],
): Truth {
  const orders = plan.phases.flat()
  const numberOf = new Map(orders.map(({ amount }, number) => [amount, number]))
  const rows = new Map<string, TrueRow>()
  const balances = new Map<string, number>()
  for (const transaction of transactions) {
    if (transaction['status'] !== 'completed') throw new Error(`not completed: ${JSON.stringify(transaction)}`)
    const id = textOf(transaction, 'txn_id')
    const account = textOf(transaction, 'account_id')
    const amount = textOf(transaction, 'amount')
    const side = senders.has(id) ? 'sender' : 'receiver'
    balances.set(account, (balances.get(account) ?? 0) + (side === 'sender' ? -1 : 1) * Number(amount))
    const transfer = numberOf.get(amount)
    if (transfer === undefined) continue
    rows.set(id, { account, side, transfer, amount, memo: orders[transfer]?.memo?.length ?? null })
  }
  if (rows.size !== 2 * orders.length) throw new Error(`${orders.length} transfers have ${rows.size} rows`)
  const tiers = plan.tierOf.flatMap((tier, index): [string, number][] =>
    tier === null ? [] : [[ids[index] ?? '', tier]],
  )
  return { rows, accounts: ids, employer: ids[EMPLOYER] ?? '', tiers: new Map(tiers), balances }
}

async function concurrently<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  const left = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of left) await work(item, index)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}
