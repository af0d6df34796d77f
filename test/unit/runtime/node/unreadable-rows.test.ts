/** A shard with an unreadable row stops when the row is read, before it decides anything. */
import { expect, test } from 'vitest'
import type { LookUpAnswer } from '../../../../runtime/ports/ledger-store.ts'
import { credit, hosting, item, kinds, register } from '../../../support/shard-hosting.ts'

/** Look-ups say that rows of these shards cannot be read. */
function spoil(
  store: object,
  lookUp: (question: never) => Promise<LookUpAnswer>,
  ...shardIds: readonly number[]
): void {
  const unreadable = new Map(shardIds.map((shardId) => [shardId, 'accounts 0 ref 3: it does not open']))
  Object.assign(store, {
    lookUp: async (question: never): Promise<LookUpAnswer> => ({ ...(await lookUp(question)), unreadable }),
  })
}

test('nothing of it is decided, no client gets a reply, and the log names the row', async () => {
  const { clock, host, store, batches, verdicts, logged, send } = hosting([0, 1])
  send(item(1, 'b', register))
  await clock.pass(10)
  const before = batches.length
  spoil(store, store.lookUp, 0)
  send(item(0, 'a', register), item(0, 'a2', register), item(1, 'b', credit('b', 'k1')))
  await clock.pass(200)
  expect(kinds(verdicts).toSorted()).toEqual(['accepted', 'registered', 'undecided', 'undecided'])
  const later = batches.slice(before).flatMap(({ shards }) => shards)
  expect(later.filter(({ token }) => token.shardId === 0).flatMap(({ accounts }) => accounts)).toEqual([])
  expect(host.refused()).toEqual([0])
  expect([...host.serving().keys()]).toEqual([1])
  const quarantined = logged.filter(({ event }) => event === 'shard_quarantined')
  expect(quarantined).toHaveLength(1)
  expect(quarantined[0]?.fields).toMatchObject({
    shard: 0,
    stage: 'look_up',
    cause: 'accounts 0 ref 3: it does not open',
  })
})

test('what cannot be read is not believed if the shard is another’s by then', async () => {
  const { clock, host, store, logged, give, send } = hosting([0])
  const { lookUp } = store
  spoil(
    store,
    (question) => {
      give(0, 'another')
      return lookUp(question)
    },
    0,
  )
  send(item(0, 'a', register))
  await clock.pass(200)
  expect(host.refused()).toEqual([])
  expect(logged.map(({ event }) => event)).not.toContain('shard_quarantined')
})

test('the store is asked once whose the shard is, however many wait for it', async () => {
  const { clock, store, verdicts, send } = hosting([0])
  const { shards } = store
  let asked = 0
  Object.assign(store, {
    shards: () => {
      asked += 1
      return shards()
    },
  })
  spoil(store, store.lookUp, 0)
  send(...Array.from({ length: 20 }, (_, index) => item(0, `a${index}`, register)))
  await clock.pass(200)
  expect(kinds(verdicts)).toEqual(Array.from({ length: 20 }, () => 'undecided'))
  expect(asked).toBe(1)
})
