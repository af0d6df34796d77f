/** D24: a dry run is answered from the actor's current state, after the commits that made it, and writes nothing. */
import { expect, test } from 'vitest'
import type { CommitVerdict } from '../../../../../runtime/ports/ledger-store.ts'
import type { Operation } from '../../../../../runtime/protocol/messages.ts'
import { answersOf, applied, credit, hosting, register, transfer } from '../../../../support/shard-hosting.ts'

function rehearsed(operation: Operation): Operation {
  return { ...operation, kind: 'dry_run' } as Operation
}

test('a dry run sees the orders before it, and is answered once they are committed', async () => {
  const { clock, control, batches, verdicts, item, send } = hosting()
  send(item(0, 'a', register), item(1, 'b', register))
  await clock.pass(10)
  let commit: (verdict: CommitVerdict) => void = () => undefined
  control.commit = () => new Promise((resolve) => (commit = resolve))
  send(item(0, 'a', credit('a', 'first', undefined, '5')), item(0, 'a', rehearsed(transfer('a', 'b', 'second', '2'))))
  await clock.pass(10)
  expect(answersOf(verdicts)).toHaveLength(2)
  const [pending] = batches.slice(-1)
  if (pending === undefined) throw new Error('The order has a commit.')
  commit(applied(pending) as CommitVerdict)
  await clock.pass(10)
  expect(answersOf(verdicts)[3]).toEqual({
    kind: 'dry_run',
    result: {
      outcome: 'pending',
      failure: null,
      balanceAfter: '5',
      availableAfter: '3',
      decidedBy: [{ kind: 'account', id: 'b' }],
    },
  })
})

test('a dry run writes no row and uses no key: the same order is accepted afterwards', async () => {
  const { clock, batches, verdicts, item, send } = hosting()
  send(item(0, 'a', register))
  await clock.pass(10)
  const before = batches.length
  const order = credit('a', 'once', undefined, '5')
  send(item(0, 'a', rehearsed(order)), item(0, 'a', rehearsed(order)))
  await clock.pass(10)
  // A commit without rows proves that the node still owns the shard.
  const rows = batches
    .slice(before)
    .flatMap(({ shards }) => shards.flatMap(({ token: _token, ...lists }) => Object.values(lists)))
  expect(rows.flat()).toEqual([])
  send(item(0, 'a', order))
  await clock.pass(10)
  send(item(0, 'a', rehearsed(order)))
  await clock.pass(10)
  const [, first, second, accepted, after] = answersOf(verdicts)
  const result = { outcome: 'completed', failure: null, balanceAfter: '5', availableAfter: '5', decidedBy: [] }
  expect([first, second]).toEqual([
    { kind: 'dry_run', result },
    { kind: 'dry_run', result },
  ])
  expect(accepted).toMatchObject({ kind: 'accepted', replayed: false })
  expect(after).toEqual({ kind: 'dry_run', result: { ...result, balanceAfter: '10', availableAfter: '10' } })
})
