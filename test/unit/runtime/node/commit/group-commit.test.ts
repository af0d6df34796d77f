/** B1, B2: the outcome of one shard's commit delays no other shard, and has no effect on a shard that has ended. */
import { describe, expect, test } from 'vitest'
import type { Operation } from '../../../../../runtime/protocol/messages.ts'
import type { CommitVerdict } from '../../../../../runtime/ports/ledger-store.ts'
import { applied, credit, hosting, item, kinds, register } from '../../../../support/shard-hosting.ts'

const UNKNOWN: CommitVerdict = { kind: 'unknown', detail: 'no answer' }

/** A commit whose verdict is given by the test. */
function heldVerdict() {
  let answer: (verdict: CommitVerdict) => void = () => undefined
  const verdict = new Promise<CommitVerdict>((resolve) => (answer = resolve))
  return { verdict, answer }
}

test('B2: what became ready beside the halves of a batch is committed though the outcome of the first is unknown', async () => {
  const { clock, control, store, verdicts, send } = hosting([0, 2])
  send(item(0, 'a', register), item(2, 'c', register))
  await clock.pass(10)
  Object.assign(store, { raiseAttempt: () => new Promise(() => undefined) })
  const first = heldVerdict()
  const outcomes: (CommitVerdict | Promise<CommitVerdict>)[] = [
    { kind: 'failed', cause: 'data', detail: 'one of them' },
    first.verdict,
  ]
  control.commit = (batch) => outcomes.shift() ?? applied(batch)
  send(item(0, 'a', credit('a', 'k1')), item(0, 'a', credit('a', 'k2')))
  await clock.pass(5)
  send(item(2, 'c', credit('c', 'k')))
  await clock.pass(5)
  expect(outcomes).toEqual([])
  first.answer(UNKNOWN)
  await clock.pass(5)
  expect(kinds(verdicts).slice(2)).toEqual(['accepted'])
})

describe('a shard that has ended while its commit was under way', () => {
  const inFlight = async (...orders: readonly Operation[]) => {
    const given = { up: 0 }
    const items = (fate: string, count: number) => {
      if (fate === 'given_up') given.up += count
    }
    const silent = (): void => undefined
    const ledger = hosting([0], {}, { metrics: { items, commit: silent, batch: silent, moves: silent } })
    const { clock, control, send } = ledger
    send(item(0, 'a', register))
    await clock.pass(10)
    const held = heldVerdict()
    control.commit = () => held.verdict
    send(...orders.map((order) => item(0, 'a', order)))
    await clock.pass(10)
    return { ...ledger, given, held }
  }

  test('is not taken up again when that commit’s outcome is unknown', async () => {
    const { clock, host, held, logged, records, verdicts, given } = await inFlight(
      credit('a', 'k'),
      credit('a', 'refused', 'forged'),
    )
    host.drop(0)
    held.answer(UNKNOWN)
    await clock.pass(5_000)
    expect([...host.serving().keys()]).toEqual([])
    expect(records.get(0)).toMatchObject({ attempt: 0 })
    expect(kinds(verdicts).slice(1)).toEqual(['undecided', 'undecided'])
    expect(given.up).toBe(2)
    expect(logged.map(({ event }) => event)).not.toContain('shard_fenced')
  })

  test('is not taken up again when it was quarantined, nor held for broken twice', async () => {
    const { clock, control, host, store, held, logged, send } = await inFlight(credit('a', 'k'))
    const { lookUp } = store
    Object.assign(store, {
      lookUp: async (question: never) => ({
        ...(await lookUp(question)),
        unreadable: new Map([[0, 'it does not open']]),
      }),
    })
    send(item(0, 'a', credit('a', 'k2')))
    await clock.pass(10)
    expect(host.refused()).toEqual([0])
    control.commit = applied
    held.answer(UNKNOWN)
    await clock.pass(5_000)
    expect([[...host.serving().keys()], host.refused()]).toEqual([[], [0]])
    expect(logged.filter(({ event }) => event === 'shard_quarantined')).toHaveLength(1)
  })

  test('is not held for broken over what it was to commit', async () => {
    const { clock, host, held, logged } = await inFlight(credit('a', 'k'))
    host.drop(0)
    held.answer({ kind: 'failed', cause: 'invariant', detail: 'computed from version 3, stored is 5' })
    await clock.pass(5_000)
    expect(host.refused()).toEqual([])
    expect(logged.map(({ event }) => event)).not.toContain('shard_quarantined')
  })
})
