/** C3: a timer whose handling throws is parked. Only faults outside the store count against its shard. */
import { expect, test } from 'vitest'
import { groupAddress } from '../../../../../actors/address.ts'
import { MAX_PARKED_TIMERS } from '../../../../../runtime/node/recovery/containment.ts'
import type { DueActor } from '../../../../../runtime/ports/ledger-store.ts'
import { START_MS } from '../../../../support/accounts.ts'
import { failing, hosting } from '../../../../support/shard-hosting.ts'

const TIMERS = MAX_PARKED_TIMERS + 50
const LONG_MS = 600_000

test.for([
  ['outside the store', () => Promise.reject(new TypeError('no such field')), [0]],
  ['of the store', () => failing('PostgreSQL failed: 53300'), []],
] as const)('C3: more parked timers than a shard may have, by a fault %s', async ([, lookUp, refused]) => {
  const { clock, host, store, logged } = hosting([0])
  const due = Array.from({ length: TIMERS }, (_, index): DueActor => ({
    shardId: 0,
    address: groupAddress(`x${index}`),
    dueAtMs: START_MS,
  }))
  Object.assign(store, { due: () => Promise.resolve(due), prune: () => Promise.resolve(0), lookUp })
  host.start()
  await clock.pass(LONG_MS)
  host.stop()
  expect(host.refused()).toEqual(refused)
  expect(logged.filter(({ event }) => event === 'timer_parked').length).toBeGreaterThan(MAX_PARKED_TIMERS)
})
