/**
 * Goal: value moves between shards and no kill of a node makes, loses or keeps any of it (I2 to I8). Real processes,
 * SIGKILL, under load; while it runs the whole ledger's value is summed up five times a second.
 *
 * LEDGER_VALUE_MOVES=10000 runs that many orders instead of the few that fit into a minute, among 1,000 accounts, with
 * a kill every 400 orders. LEDGER_VALUE_MOVES_SEED=<seed> draws the orders and the victims of an earlier run, which
 * says its seed; what meets a kill differs from run to run all the same.
 */
import { randomInt } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest'
import type { RowVault } from '../../infra/vault/row-vault.ts'
import { createSeededRandom } from '../simulation/sim-random.ts'
import { LedgerClient } from '../support/client.ts'
import { type Cluster, startCluster, until } from '../support/cluster-process.ts'
import { vaultOfCluster } from '../support/cluster-vault.ts'
import { forAll, receiptKeys } from './durability-audit.ts'
import { ValueMovesAudit } from './value-moves-audit.ts'
import { ConservationWatch } from './value-moves-conservation.ts'
import { ValueMovesLoad } from './value-moves-load.ts'
import { planOf } from './value-moves-plan.ts'

const FEW_ORDERS = 1_200
const ORDERS = Number(process.env['LEDGER_VALUE_MOVES'] ?? FEW_ORDERS)
const SEED = Number(process.env['LEDGER_VALUE_MOVES_SEED'] ?? randomInt(1_000_000_000))
const NODES = 3
const TOKENS = 5
const CLIENTS = 16
const ORDERS_A_KILL = 400
const ACCOUNTS = Math.min(1_000, Math.max(200, ORDERS / 10))
const TIME_LIMIT_MS = ORDERS > FEW_ORDERS ? 1_800_000 : 120_000
const DEADLINE_MS = 180_000
const SHOWN_GROUPS = 50
const SHOWN_FAULTS = 20
const CHAINS = 100
/** Of each kind of transaction: verifying is slow without the ledger's own implementation. */
const RECEIPTS = 2

let cluster: Cluster
let client: LedgerClient
let sql: postgres.Sql
let vault: RowVault

beforeAll(async () => {
  cluster = await startCluster({ nodes: NODES, edges: 1, env: { LEDGER_SHARDS: '256' } })
  client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
  sql = postgres(cluster.databaseUrl(), { max: 2, onnotice: () => undefined })
  vault = await vaultOfCluster(cluster)
})

afterAll(async () => {
  client?.close()
  await sql?.end()
  await cluster?.stop()
})

function nodes(): readonly number[] {
  return cluster.heads('node').map(({ pid }) => pid)
}

function say(text: string): void {
  process.stdout.write(`value moves, seed ${SEED}: ${text}\n`)
}

/** Waits, but not when something has been told or seen that should never be. */
async function untilUnder(
  load: ValueMovesLoad,
  watch: ConservationWatch,
  what: string,
  timeoutMs: number,
  holds: () => boolean,
): Promise<void> {
  await until(what, timeoutMs, () => load.surprises.length > 0 || watch.faults.length > 0 || holds())
  expect({ surprises: load.surprises, faults: watch.faults }).toEqual({ surprises: [], faults: [] })
}

/** Kills one node, two, or all of them, again and again, each time once the orders have come so far. */
async function killNodes(load: ValueMovesLoad, watch: ConservationWatch): Promise<number> {
  const random = createSeededRandom(SEED, 'kills')
  const kills = Math.max(1, Math.floor(ORDERS / ORDERS_A_KILL))
  for (let kill = 1; kill <= kills; kill += 1) {
    // The last one leaves others to end what no client waits for any more.
    const from = Math.floor((Math.max(0, ORDERS - CLIENTS) * kill) / kills)
    await untilUnder(load, watch, `${from} orders are carried out`, TIME_LIMIT_MS, () => {
      return load.done >= from && load.waiting > 0
    })
    const running = nodes()
    const count = 1 + random.integer(running.length)
    const victims = Array.from({ length: count }, (_, index) => running[(kill + index) % running.length] ?? 0)
    for (const victim of victims) process.kill(victim, 'SIGKILL')
    await untilUnder(load, watch, `${NODES} nodes run again`, DEADLINE_MS, () => {
      const now = nodes()
      return now.length === NODES && !victims.some((victim) => now.includes(victim))
    })
  }
  return kills
}

test(
  `I2 to I8: ${ORDERS} value moves over 256 shards, nodes killed meanwhile: no value is made, lost or left anywhere`,
  { timeout: TIME_LIMIT_MS + DEADLINE_MS },
  async () => {
    const plan = planOf(SEED, { accounts: ACCOUNTS, tokens: TOKENS, orders: ORDERS })
    const admin = await LedgerClient.login(cluster.origin, cluster.clients.admin)
    const load = new ValueMovesLoad(client, plan)
    const watch = new ConservationWatch(sql, vault)
    const audit = new ValueMovesAudit(sql, vault, admin)
    say(`${ORDERS} orders`)
    onTestFailed(async () => {
      say(`${load.done} carried out; left: ${(await audit.unfinished()).join('; ')}\n${cluster.lastLines()}`)
    })
    watch.start()
    await load.prepare(CLIENTS, admin)
    expect(load.surprises).toEqual([])
    load.start(CLIENTS)
    const kills = await killNodes(load, watch)
    await untilUnder(load, watch, 'every order is carried out', TIME_LIMIT_MS, () => load.done === ORDERS)
    await load.finish()

    let unfinished: readonly string[] = []
    const atRest = async (): Promise<boolean> => (unfinished = await audit.unfinished()).length === 0
    await until('everything is at rest', DEADLINE_MS, atRest).catch(() => undefined)
    expect(unfinished).toEqual([])
    await watch.stop()
    expect(watch.faults).toEqual([])

    await audit.acknowledged(load)
    await audit.books()
    await audit.groups(load)
    const begun = [...load.groups].filter(([, { admitted }]) => admitted > 0).map(([groupId]) => groupId)
    await forAll(begun.slice(-SHOWN_GROUPS), (groupId) => audit.shownGroup(groupId))
    await forAll(plan.accounts.slice(0, CHAINS), (accountId) => audit.chain(accountId))
    const keys = await receiptKeys(cluster.origin)
    await forAll(await audit.kindsOfTransactions(RECEIPTS), (txnId) => audit.receipt(txnId, keys))
    admin.close()
    expect(audit.faults.slice(0, SHOWN_FAULTS)).toEqual([])

    // Otherwise some of this was not put to the test.
    say(JSON.stringify({ kills, ...load.counts, ...audit.counts, looks: watch.looks, busy: watch.busy }))
    expect(watch.looks).toBeGreaterThan(20)
    expect(Math.min(...Object.values(watch.busy))).toBeGreaterThan(0)
    expect(Math.min(...Object.values(audit.counts))).toBeGreaterThan(0)
    expect(Math.min(load.counts.refused, load.counts.reverts)).toBeGreaterThan(0)
  },
)
