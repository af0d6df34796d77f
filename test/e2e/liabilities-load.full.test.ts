/**
 * A proof of liabilities runs outside of the thread that serves reads, which are served meanwhile, and covers all
 * accounts. LEDGER_LIABILITIES=1000000 sets the number of accounts. The test then also demands that the proof takes at
 * most 30 s of two processors, and 99 of 100 reads less than 100 ms, unless reads were slow before: other tests may
 * share the machine.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decimalOf, unitsOf } from '../../runtime/liabilities/sums.ts'
import { LedgerClient } from '../support/client/client.ts'
import type { Members } from '../support/client/client-keys.ts'
import { funded } from '../support/client/client-moves.ts'
import { type Cluster, startCluster, until } from '../support/processes/cluster-process.ts'
import { type FreshLedger, loadFreshLedger } from '../support/loader/fresh-ledger.ts'
import { verifyOffline } from './offline-check.ts'

const FEW_ACCOUNTS = 10_000
const MANY_ACCOUNTS = 1_000_000
const ACCOUNTS = Number(process.env['LEDGER_LIABILITIES'] ?? FEW_ACCOUNTS)
const SAMPLED = 12
const PROCESSORS = 2
const MAX_PROCESSOR_MS = 30_000
const MAX_READ_MS = 100
/** Where reads are slow already, because others keep the machine busy. */
const SLOWER_READS = 3
const READS_EVERY_MS = 20
const BASELINE_MS = 1_000
/** Of the kernel's clock. */
const TICKS_A_SECOND = 100
/** Fields of proc(5): a thread's own time, and that of the children of a process that have ended. */
const OWN_TIME = 14
const ENDED_CHILDREN = 16
const LOOK_EVERY_MS = 50
const AUDITOR_MS = 300_000
const MIB = 1_048_576

let cluster: Cluster
let client: LedgerClient
let directory: string
let ledger: FreshLedger
let sql: postgres.Sql

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-liabilities-'))
  ledger = await loadFreshLedger({ accounts: ACCOUNTS - SAMPLED, dataDir: directory })
  const env = {
    LEDGER_DATABASE_URL: ledger.url,
    LEDGER_MASTER_KEY_FILE: ledger.masterKeyFile,
    LEDGER_AUDITOR_SHARE: '10',
  }
  cluster = await startCluster({ env })
  client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
  for (let number = 0; number < SAMPLED; number += 1) await funded(client, sampled(number), `${number + 1}.25`)
  sql = postgres(ledger.url, { max: 1, onnotice: () => undefined })
  await sql`CHECKPOINT`
  await until('the auditor has looked at all value', AUDITOR_MS, hasAuditorLooked)
}, 1_500_000)

afterAll(async () => {
  await sql.end()
  client.close()
  await cluster.stop()
  await ledger.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** It does so at once in a ledger that was just loaded, and of a million accounts for as long as a proof takes. */
async function hasAuditorLooked(): Promise<boolean> {
  const [row] = await sql<{ document: string }[]>`SELECT document FROM audit_progress`
  const { tail } = JSON.parse(row?.document ?? '{"tail":{"momentAtMs":null}}') as {
    readonly tail: { readonly momentAtMs: number | null }
  }
  return tail.momentAtMs !== null
}

function sampled(number: number): string {
  return `sampled-${number}@liabilities`
}

/** The peak memory of a process, in bytes. */
function peakMemoryOf(pid: number): number {
  const [, kilobytes = '0'] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1_024
}

/** User and system time in milliseconds. `first`: its field in proc(5), counted from 1. */
function processorMsIn(path: string, first: number): number {
  const fields = readFileSync(path, 'utf8').split(') ')[1]?.split(' ') ?? []
  const ticks = fields.slice(first - 3, first - 1).reduce((sum, field) => sum + Number(field), 0)
  return (ticks / TICKS_A_SECOND) * 1_000
}

/** Samples the processor time of the threads that the process starts from now on. */
function watchNewThreads(pid: number): {
  readonly spentMs: () => number
  readonly busiestMs: () => number
  readonly stop: () => void
} {
  const tasks = `/proc/${pid}/task`
  const known = new Set(readdirSync(tasks))
  const spent = new Map<string, number>()
  const look = (): void => {
    for (const thread of readdirSync(tasks).filter((one) => !known.has(one))) {
      try {
        spent.set(thread, processorMsIn(`${tasks}/${thread}/stat`, OWN_TIME))
      } catch {
        // The thread has ended meanwhile.
      }
    }
  }
  const looking = setInterval(look, LOOK_EVERY_MS)
  return {
    spentMs: () => [...spent.values()].reduce((sum, each) => sum + each, 0),
    busiestMs: () => Math.max(0, ...spent.values()),
    stop: () => clearInterval(looking),
  }
}

/** Reads at a constant rate; of many accounts whatever the ledger does: a read's time begins when it was due. */
async function readUntil(over: Promise<unknown>): Promise<readonly number[]> {
  const running = new AbortController()
  void over.finally(() => running.abort())
  const startedMs = performance.now()
  const times: Promise<number>[] = []
  while (!running.signal.aborted) {
    const dueMs = startedMs + times.length * READS_EVERY_MS
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())))
    times.push(timeOfRead(times.length, dueMs))
    // Where no times are demanded, a machine that is held up must not be asked for all at once what it missed.
    if (ACCOUNTS < MANY_ACCOUNTS) await times.at(-1)
  }
  return (await Promise.all(times)).sort((one, other) => one - other)
}

async function timeOfRead(index: number, dueMs: number): Promise<number> {
  const accountId = sampled(index % SAMPLED)
  const path = index % 2 === 0 ? `/v1/accounts/${accountId}/balances` : `/v1/transactions?account_id=${accountId}`
  const { status } = await client.get(path)
  if (status !== 200) throw new Error(`GET ${path}: ${status}`)
  return performance.now() - dueMs
}

function p99Of(times: readonly number[]): number {
  return times[Math.ceil(times.length * 0.99) - 1] ?? 0
}

/** Waits without a deadline. */
async function proveLiabilities(): Promise<Members> {
  const response = await fetch(`${cluster.origin}/v1/assertions/proof-of-liabilities`, {
    method: 'POST',
    headers: { ...client.authorization(), 'content-type': 'application/json' },
    body: JSON.stringify({ requester: 'an auditor' }),
  })
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as Members
}

test(`D12: a proof of ${ACCOUNTS} accounts runs outside of the thread that serves reads`, async () => {
  const [edge = 0] = cluster.heads('edge').map(({ pid }) => pid)
  const server = Number(readFileSync(join(directory, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
  // The run has a connection of its own, and its server process ends with it.
  const backends = (): number => processorMsIn(`/proc/${server}/stat`, ENDED_CHILDREN)
  const quiet = p99Of(await readUntil(new Promise((resolve) => setTimeout(resolve, BASELINE_MS))))
  const before = { memory: peakMemoryOf(edge), backendsMs: backends(), atMs: performance.now() }
  const threads = watchNewThreads(edge)
  const asking = proveLiabilities()
  const times = await readUntil(asking)
  threads.stop()
  const { result } = await asking
  const tookMs = performance.now() - before.atMs
  await until('its server process has ended', 10_000, () => backends() > before.backendsMs)
  const spentMs = threads.spentMs() + backends() - before.backendsMs
  const busy = p99Of(times)
  const [stored] = await sql<{ bytes: string }[]>`SELECT pg_total_relation_size('liability_pages') AS bytes`
  const grownMib = (peakMemoryOf(edge) - before.memory) / MIB
  process.stdout.write(
    `${ACCOUNTS} balances: ${Math.round(tookMs)} ms, ${Math.round(spentMs)} ms of one processor, ` +
      `${Math.round(threads.busiestMs())} ms of that in one thread; ${times.length} reads; ` +
      `${Math.round(grownMib)} MiB of memory, ${Math.round(Number(stored?.bytes) / MIB)} MiB stored; ` +
      `p99 of reads ${quiet.toFixed(1)} ms before, ${busy.toFixed(1)} ms meanwhile\n`,
  )
  const [loaded] = ledger.sums.boundary
  const filled = unitsOf(loaded?.credited ?? '') - unitsOf(loaded?.debited ?? '')
  const units = filled + BigInt(SAMPLED) * unitsOf(String(SAMPLED / 2 + 0.75))
  expect((result as Members)['total_liabilities']).toBe(decimalOf(units))
  for (let number = 0; number < SAMPLED; number += 1) {
    const proof = await client.read(`/v1/accounts/${sampled(number)}/liability-proof`)
    const { code, out } = await verifyOffline(client, proof)
    expect([code, out]).toEqual([0, expect.stringContaining(`${sampled(number)} is owed ${number + 1}.25 BASE`)])
  }
  expect(times.length).toBeGreaterThan(0)
  if (ACCOUNTS < MANY_ACCOUNTS) return
  expect(Math.max(spentMs / PROCESSORS, threads.busiestMs())).toBeLessThan(MAX_PROCESSOR_MS)
  expect(busy).toBeLessThan(Math.max(MAX_READ_MS, SLOWER_READS * quiet))
})
