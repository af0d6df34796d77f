/**
 * What encryption at rest costs: two ledgers side by side, one with it and one without, take the same load in turns, so that
 * what else the machine does falls on both.
 */
import { LedgerClient } from '../support/client.ts'
import { startCluster } from '../support/cluster-process.ts'
import { type Bench, demandAll, REGISTERING_CONNECTIONS, say } from './context.ts'
import { type Begun, interruptible } from './interruptible.ts'
import { startLoadGenerator } from './load-generator.ts'
import { thisMachine } from './machine.ts'
import { measure, type Measured } from './measure.ts'
import type { BenchOptions } from './options.ts'
import { type EncryptionReport, writeReport } from './report-json.ts'

const MODES = ['off', 'on'] as const
type Mode = (typeof MODES)[number]

/** Each of the two, so many times. */
const ROUNDS = 3
/** Of each list and ledger, in turns. */
const READS = 200

/** Lists as clients ask for them: the path, and what it is called. */
const LISTS: readonly (readonly [name: string, path: (accountId: string) => string])[] = [
  ['the latest 100', () => '/v1/transactions?page_size=100'],
  ['of an account', (accountId) => `/v1/transactions?account_id=${accountId}&page_size=100`],
  ['of an hour', () => `/v1/transactions?date_from=${new Date(Date.now() - 3_600_000).toISOString()}&page_size=100`],
  ['by amount', () => '/v1/transactions?amount_min=1&amount_max=2&page_size=100'],
  ['balances', (accountId) => `/v1/accounts/${accountId}/balances`],
  ['a chain', (accountId) => `/v1/accounts/${accountId}/audit-chain?page_size=100`],
]

interface Side {
  readonly mode: Mode
  readonly bench: Bench
}

/** The exit code. */
export function measureEncryption(options: BenchOptions): Promise<number> {
  return interruptible(async (begun) => {
    const sides: Side[] = []
    for (const mode of MODES) sides.push(await startSide(mode, options, begun))
    const runs = new Map<Mode, Measured[]>(MODES.map((mode) => [mode, []]))
    for (let round = 1; round <= ROUNDS; round += 1) {
      const order = round % 2 === 0 ? sides.toReversed() : sides
      for (const { mode, bench } of order) {
        runs.get(mode)?.push(await measure(bench, 'random', `encryption ${mode}, round ${round}`))
      }
    }
    const report: EncryptionReport = {
      submissions: MODES.map((mode) => ({ mode, runs: runs.get(mode) ?? [] })),
      lists: await measureLists(sides),
    }
    process.stdout.write(render(report))
    writeReport(options.json, { kind: 'encryption', machine: thisMachine(), ...report })
    return 0
  })
}

async function startSide(mode: Mode, options: BenchOptions, { started, onEnd }: Begun): Promise<Side> {
  say(`Starting a ledger with encryption ${mode} ...`)
  const { nodes, edges, accounts } = options
  const cluster = await started(startCluster({ nodes, edges, env: { LEDGER_ENCRYPTION: mode } }))
  const load = startLoadGenerator()
  onEnd(load.stop)
  const client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
  onEnd(() => client.close())
  await load.setup(cluster.origin, client.token, accounts)
  demandAll(await load.register(REGISTERING_CONNECTIONS), 201)
  return { mode, bench: { options, cluster, client, load } }
}

async function measureLists(sides: readonly Side[]): Promise<EncryptionReport['lists']> {
  const lists: { name: string; off: number; on: number }[] = []
  for (const [name, pathOf] of LISTS) {
    say(`${name} ...`)
    const took = new Map<Mode, number[]>(MODES.map((mode) => [mode, []]))
    const accounts = new Map<Mode, string>()
    for (const { mode, bench } of sides) accounts.set(mode, await someAccount(bench.client))
    for (let read = 0; read < READS; read += 1) {
      for (const { mode, bench } of sides) {
        const begunMs = performance.now()
        const reply = await bench.client.get(pathOf(accounts.get(mode) ?? ''))
        if (reply.status !== 200) throw new Error(`${name}: ${reply.status} ${reply.body}`)
        took.get(mode)?.push(performance.now() - begunMs)
      }
    }
    lists.push({ name, off: median(took.get('off') ?? []), on: median(took.get('on') ?? []) })
  }
  return lists
}

/** One that has done something. */
async function someAccount(client: LedgerClient): Promise<string> {
  const { transactions } = await client.read('/v1/transactions?page_size=1')
  const [latest] = transactions as readonly { readonly account_id: string }[]
  if (latest === undefined) throw new Error('there are no transactions')
  return latest.account_id
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
}

function render({ submissions, lists }: EncryptionReport): string {
  const cost = submissions.map(({ runs }) => median(runs.map(({ ledgerCpuUs }) => ledgerCpuUs)))
  const rate = submissions.map(({ runs }) => median(runs.map(({ appliedPerSecond }) => appliedPerSecond)))
  const [off = Number.NaN, on = Number.NaN] = cost
  const [offRate = Number.NaN, onRate = Number.NaN] = rate
  return [
    'encryption | off | on | on to off',
    `CPU of a submission, us | ${off.toFixed(0)} | ${on.toFixed(0)} | ${(on / off).toFixed(2)}`,
    `applied a second | ${offRate.toFixed(0)} | ${onRate.toFixed(0)} | ${(onRate / offRate).toFixed(2)}`,
    ...lists.map(
      (list) =>
        `${list.name}, ms | ${list.off.toFixed(1)} | ${list.on.toFixed(1)} | ${(list.on / list.off).toFixed(2)}`,
    ),
    '',
  ].join('\n')
}
