/** I11: a timer runs once, with any owner of its shard and any outcome of the commit. */
import { describe, expect, test } from 'vitest'
import { type ActorAddress, exchangeAddress } from '../../../../../actors/address.ts'
import type { ExchangeState } from '../../../../../actors/exchange/state.ts'
import { Timers } from '../../../../../runtime/node/delivery/timers.ts'
import type { CommitBatch } from '../../../../../runtime/ports/ledger-store.ts'
import { START_MS } from '../../../../support/accounts.ts'
import { partWith } from '../../../../support/postgres/ledger-rows.ts'
import { createManualClock } from '../../../../support/manual-clock.ts'
import { actorIn, applied, createLedger, homeOf, type Ledger, startHost } from '../../../../support/shard-hosting.ts'
import { NO_RARE_PATHS } from '../../../../../runtime/ports/rare-paths.ts'

const DUE_MS = START_MS + 2_500
const A = exchangeAddress('a0b0c0d0-0000-4000-8000-000000000001')

/** An exchange that waits for its other side until then. */
function waiting(address: ActorAddress, dueAtMs = DUE_MS): ExchangeState {
  const offer = {
    txnId: `txn_${address.id}`,
    accountId: 'c',
    toAccountId: 'd',
    gives: { tokenId: 'GOLD', amount: '1' },
    receives: { tokenId: 'IRON', amount: '1' },
    expiresAtMs: dueAtMs,
  }
  return {
    kind: 'exchange',
    status: 'waiting',
    format: 1,
    id: address.id,
    version: 1,
    offers: [offer],
    lastTimeMs: START_MS,
    dueAtMs,
  }
}

function ledgerWith(...addresses: readonly ActorAddress[]): Ledger {
  const ledger = createLedger([0, 1])
  const actors = addresses.map((address) => ({ address, previousVersion: 0, state: waiting(address) }))
  for (const shardId of [0, 1]) {
    const mine = actors.filter(({ address }) => homeOf(address) === shardId)
    ledger.rows.apply([partWith({ shardId, epoch: 0, attempt: 0 }, { actors: mine })])
  }
  return ledger
}

/** How often the exchange was given up, in what was tried. */
const given = (batches: readonly CommitBatch[]) =>
  batches.flatMap(({ shards }) => shards.flatMap(({ outbox }) => outbox)).length

async function serving(ledger: Ledger) {
  const started = startHost(ledger, 'one', [])
  for (const shardId of [0, 1]) await started.serve(shardId)
  started.host.start()
  return started
}

/** Waiting offers: an exchange stores expired ones for a day. */
function waitingAt(...where: Parameters<typeof actorIn>): readonly unknown[] {
  const state = actorIn(...where)
  return state?.kind === 'exchange' ? state.offers : []
}

describe('times that actors wait for', () => {
  test('one comes when it is there, and not before', async () => {
    const ledger = ledgerWith(A)
    const { host } = await serving(ledger)
    await ledger.clock.pass(2_400)
    expect(ledger.batches).toEqual([])
    await ledger.clock.pass(1_000)
    expect(waitingAt(ledger.rows, A)).toEqual([])
    expect(given(ledger.batches)).toBe(1)
    host.stop()
  })

  test('one that fell due while its shard had no owner is found by the next owner', async () => {
    const ledger = ledgerWith(A)
    await ledger.clock.pass(60_000)
    const { host } = await serving(ledger)
    await ledger.clock.pass(1_100)
    expect(waitingAt(ledger.rows, A)).toEqual([])
    host.stop()
  })

  test('one that waits to be committed does not come again', async () => {
    const ledger = ledgerWith(A)
    const { host } = await serving(ledger)
    let commit: () => void = () => undefined
    ledger.control.commit = (batch) => new Promise((resolve) => (commit = () => resolve(applied(batch))))
    await ledger.clock.pass(10_000)
    expect(host.backlog()).toBe(1)
    ledger.control.commit = applied
    commit()
    await ledger.clock.pass(2_000)
    expect(given(ledger.batches)).toBe(1)
    expect(host.backlog()).toBe(0)
    host.stop()
  })

  test('one whose step was lost with its incarnation comes again', async () => {
    const ledger = ledgerWith(A)
    const { host } = await serving(ledger)
    ledger.control.commit = () => {
      ledger.control.commit = applied
      return { kind: 'unknown', detail: 'no answer' }
    }
    await ledger.clock.pass(3_100)
    expect(actorIn(ledger.rows, A)).toBeDefined()
    await ledger.clock.pass(1_000)
    expect(waitingAt(ledger.rows, A)).toEqual([])
    expect(host.refused()).toEqual([])
    host.stop()
  })

  test('a shard that cannot commit does not keep those of other shards from coming', async () => {
    const idOf = (letter: string, index: number) => `${letter}0b0c0d0-0000-4000-8000-${`${index}`.padStart(12, '0')}`
    const stuck = Array.from({ length: 1_100 }, (_, index) => exchangeAddress(idOf('a', index)))
    const other = exchangeAddress(idOf('b', 0))
    const ledger = ledgerWith(...stuck, other)
    ledger.control.commit = (batch) =>
      batch.shards.some(({ token }) => token.shardId === 0)
        ? { kind: 'failed', cause: 'transient', detail: 'unknown cause' }
        : applied(batch)
    const { host } = await serving(ledger)
    await ledger.clock.pass(20_000)
    expect(waitingAt(ledger.rows, other)).toEqual([])
    host.stop()
  })
})

describe('what goes with the same ticks', () => {
  test('messages that were taken in are pruned once a minute, and at once again while there is more', async () => {
    const clock = createManualClock(START_MS)
    const pruned: { readonly atMs: number; readonly beforeMs: number }[] = []
    let found = 10_000
    const timers = new Timers({
      store: {
        due: () => Promise.resolve([]),
        prune: (_, beforeMs) => {
          pruned.push({ atMs: clock.monotonic(), beforeMs })
          const count = found
          found = 1
          return Promise.resolve(count)
        },
      },
      clock,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      rare: NO_RARE_PATHS,
      shards: () => [0],
      onDue: () => undefined,
      onTick: () => undefined,
    })
    timers.start()
    await clock.pass(130_000)
    expect(pruned.map(({ atMs }) => atMs)).toEqual([60_000, 61_000, 121_000])
    expect(pruned[0]?.beforeMs).toBe(START_MS + 60_000 - 7 * 86_400_000)
    timers.stop()
    await clock.pass(120_000)
    expect(pruned.length).toBe(3)
  })

  test('a store that cannot be asked is asked again', async () => {
    const clock = createManualClock(START_MS)
    const warned: string[] = []
    let asked = 0
    const timers = new Timers({
      store: {
        due: () => {
          asked += 1
          return asked < 3 ? Promise.reject(new Error('not now')) : Promise.resolve([])
        },
        prune: () => Promise.resolve(0),
      },
      clock,
      log: { info: () => undefined, warn: (event) => void warned.push(event), error: () => undefined },
      rare: NO_RARE_PATHS,
      shards: () => [0],
      onDue: () => undefined,
      onTick: () => undefined,
    })
    timers.start()
    await clock.pass(4_100)
    expect(warned).toEqual(['timers_delayed', 'timers_delayed'])
    expect(asked).toBe(4)
    timers.stop()
  })
})
