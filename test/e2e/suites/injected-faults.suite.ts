/**
 * An error between the arrival of a command and its reply affects no other command. The test injects faults
 * (test/support/processes/injected-faults.ts) into a running ledger of two nodes. Each fault has the expected outcome for its client
 * and logs the expected lines at the level `error`. No order in another shard fails, and no command is left waiting.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BuiltProgram, buildProgram } from '../../support/processes/built-program.ts'
import { type Holder, LedgerClient, membersOf, send, textOf } from '../../support/client/client.ts'
import { agreed, agreementOn, groupOf, payment } from '../../support/client/client-groups.ts'
import { newAccountKeys } from '../../support/client/client-keys.ts'
import { accepted, keyed, moved, outcomeOf } from '../../support/client/client-moves.ts'
import { type ClusterParts, startParts } from '../../support/processes/cluster-parts.ts'
import { until } from '../../support/processes/cluster-process.ts'
import { freePorts } from '../../support/processes/free-ports.ts'
import { accountPrefixOf, type FaultOutcome, type InjectedFault } from '../../support/processes/injected-faults.ts'

const NODES = ['node-1', 'node-2'] as const
const SHARDS = 64
const CLIENTS = 8
const THINK_MS = 100
const DEADLINE_MS = 180_000

/** The client's view: the reply to an order, or the status of the transaction or group. */
const OBSERVED: Readonly<Record<FaultOutcome, string>> = {
  applied: '202',
  refused: '400 ERR_INVALID_FIELD',
  undecided: '503 ERR_SHARD_UNAVAILABLE unknown',
  pending: 'pending',
}

let program: BuiltProgram
let cluster: ClusterParts
let client: LedgerClient
let metrics: readonly string[] = []
/** The home shard of each account. */
const shardOf = new Map<string, number>()
const faulty = new Map<string, Holder>()
let load = { stopped: false, orders: 0, failed: [] as string[], workers: [] as Promise<void>[] }

/** Starts a ledger for these faults. A process may run several, one after the other. */
async function open(faults: readonly InjectedFault[]): Promise<void> {
  shardOf.clear()
  faulty.clear()
  load = { stopped: false, orders: 0, failed: [], workers: [] }
  program = buildProgram('test/support/processes/faulty-part.ts')
  const ports = await freePorts(NODES.length)
  metrics = ports.map((port) => `http://127.0.0.1:${port}`)
  const env = Object.fromEntries(NODES.map((name, index) => [`METRICS_OF_${name}`, String(ports[index])]))
  cluster = await startParts({ nodes: 2, edges: 1, shards: SHARDS, natsServers: 1, program: [program.path], env })
  client = await LedgerClient.login(cluster.origins[0] ?? '', cluster.client)
  await until('each node owns at least a quarter of the shards', DEADLINE_MS, async () => {
    const owners = [...(await ownerOf()).values()]
    return NODES.every((name) => owners.filter((owner) => owner === name).length >= SHARDS / 4)
  })
  for (const fault of faults) await register(fault)
  await startLoad()
}

async function close(): Promise<void> {
  load.stopped = true
  await Promise.all(load.workers)
  client.close()
  await cluster.close()
  program.remove()
}

async function ownerOf(): Promise<ReadonlyMap<unknown, unknown>> {
  const shards = await client.readAll('/v1/shards', 'shards')
  return new Map(shards.map((shard) => [shard['shard_id'], shard['owner']]))
}

/** Registers an account in a shard of its own. The account can order even if the fault prevents its registration. */
async function register(fault: InjectedFault): Promise<void> {
  for (let serial = 0; ; serial += 1) {
    const accountId = `${accountPrefixOf(fault)}.${serial}`
    const keys = newAccountKeys()
    const reply = await client.post('/v1/accounts', { account_id: accountId, public_key: keys.jwk })
    const shardId = Number(membersOf(reply)['shard_id'])
    if ([...shardOf.values()].includes(shardId)) continue
    if (reply.status === 201) shardOf.set(accountId, shardId)
    faulty.set(fault.name, { accountId, keys })
    return
  }
}

/** Submits orders in shards that no fault concerns. */
async function startLoad(): Promise<void> {
  const faultyShards = new Set(shardOf.values())
  const holders: Holder[] = []
  for (let serial = 0; holders.length < CLIENTS; serial += 1) {
    const holder = await client.register(`beside-${serial}@faults`)
    const { shard_id: shardId } = await client.read(`/v1/accounts/${holder.accountId}`)
    if (!faultyShards.has(Number(shardId))) holders.push(holder)
  }
  load.workers = holders.map(async (holder) => {
    while (!load.stopped) {
      const reply = await client.submit(holder, keyed({ type: 'credit', amount: '1' }))
      load.orders += 1
      if (reply.status !== 202) load.failed.push(reply.body)
      await delay(THINK_MS)
    }
  })
}

/** Returns an account with a balance, in another shard. `isElsewhere`: on the other node, else on the same node. */
async function payerFor(accountId: string, isElsewhere: boolean): Promise<Holder> {
  const shardId = shardOf.get(accountId)
  if (shardId === undefined) throw new Error(`${accountId} was not registered`)
  for (let serial = 0; ; serial += 1) {
    const keys = newAccountKeys()
    const payer = { accountId: `payer-${serial}-${shardId}@faults`, keys }
    const reply = await client.post('/v1/accounts', { account_id: payer.accountId, public_key: keys.jwk })
    // The shard may be moving to another node.
    if (reply.status !== 201) continue
    const own = Number(membersOf(reply)['shard_id'])
    const owners = await ownerOf()
    if ([...shardOf.values()].includes(own) || (owners.get(own) !== owners.get(shardId)) !== isElsewhere) continue
    await moved(client, payer, { type: 'credit', amount: '10' })
    return payer
  }
}

/** The events of both nodes at this level, by time. */
function logged(level: 'error' | 'warn'): readonly string[] {
  return NODES.flatMap((name) => (cluster.parts.get(name)?.lastLines() ?? '').split('\n'))
    .filter((line) => line.includes(`"level":"${level}"`))
    .map((line) => JSON.parse(line) as Record<string, string>)
    .toSorted((one, other) => (textOf(one, 'time') < textOf(other, 'time') ? -1 : 1))
    .map((line) => textOf(line, 'event'))
}

/** Triggers the fault. Returns what the client observes after `isLogged`. */
async function observedOf(fault: InjectedFault, number: number, isLogged: () => Promise<void>): Promise<string> {
  const holder = faulty.get(fault.name)
  if (holder === undefined) throw new Error(`${fault.name} has no account`)
  const { accountId } = holder
  if (fault.by === 'order') {
    const reply = await client.submit(holder, keyed({ type: 'credit', amount: '1' }))
    await isLogged()
    const { outcome } = membersOf(reply)
    return outcome === undefined ? outcomeOf(reply) : `${outcomeOf(reply)} ${String(outcome)}`
  }
  const payer = await payerFor(accountId, fault.name === 'message-carried' || number % 2 === 0)
  if (fault.by === 'group') {
    const { groupId } = await agreed(client, agreementOn(payment(holder, payer, '1'), 1))
    await isLogged()
    const { status } = await groupOf(client, groupId)
    return status === 'open' ? 'pending' : String(status)
  }
  const receipt = await accepted(client, payer, { type: 'transfer', amount: '1', to_account_id: accountId })
  await isLogged()
  return textOf(await client.read(`/v1/transactions/${textOf(receipt, 'txn_id')}`), 'status')
}

/** The first fault of each kind that clients and logs cannot tell apart, and the rest. */
export function kindsOf(
  faults: readonly InjectedFault[],
): Readonly<Record<'first' | 'rest', readonly InjectedFault[]>> {
  const kindOf = ({ by, outcome, logged: lines, warned }: InjectedFault) => [by, outcome, lines, warned].join()
  const first = faults.filter((fault, index) => faults.findIndex((one) => kindOf(one) === kindOf(fault)) === index)
  return { first, rest: faults.filter((fault) => !first.includes(fault)) }
}

export function injectedFaultsSuite(faults: readonly InjectedFault[]): void {
  beforeAll(() => open(faults))
  afterAll(close)

  test.for(faults.map((fault, number) => ({ fault, number })))(
    '$fault.name: the $fault.by is $fault.outcome; logged: $fault.logged',
    async ({ fault, number }) => {
      const before = logged('error').length
      const warnedBefore = logged('warn').length
      const failedBefore = load.failed.length
      const isLogged = () =>
        until('the fault is logged', DEADLINE_MS, () => logged('error').length >= before + fault.logged.length)
      expect(await observedOf(fault, number, isLogged)).toBe(OBSERVED[fault.outcome])
      const errors = logged('error').slice(before)
      const { warned = [], loggedByAttempt = false } = fault
      expect(loggedByAttempt ? [...new Set(errors)] : errors).toEqual(fault.logged)
      expect(logged('warn').slice(warnedBefore)).toEqual(expect.arrayContaining([warned].flat()))
      expect(load.failed.slice(failedBefore)).toEqual([])
    },
  )

  test('at rest, no command waits in a mailbox and no look-up is open', async () => {
    load.stopped = true
    await Promise.all(load.workers)
    expect(load.orders).toBeGreaterThan(CLIENTS * faults.length)
    await until('no command waits and no look-up is open', DEADLINE_MS, async () => {
      const pages = await Promise.all(metrics.map((origin) => send(origin, { method: 'GET', path: '/metrics' })))
      return pages.every(
        ({ body }) =>
          /^ledger_oldest_pin_age_seconds 0$/m.test(body) && /^ledger_queue_depth\{queue="mailboxes"\} 0$/m.test(body),
      )
    })
    expect(NODES.map((name) => cluster.parts.get(name)?.running())).toEqual([true, true])
  })
}
