/** Goal: N1, H4: what a node decided, or found broken, counts for nothing where another has written since, itself included. */
import { describe, expect, test } from 'vitest'
import type { CommitVerdict } from '../../../runtime/ports/ledger-store.ts'
import { OTHER_KEY } from '../../support/accounts.ts'
import { applied, credit, hosting, item, kinds, register, rotation, writes } from '../../support/shard-hosting.ts'

const BROKEN: CommitVerdict = { kind: 'failed', cause: 'invariant', detail: 'computed from version 3, stored is 5' }

describe('the shard host in doubt', () => {
  test('N1: what a commit of unknown outcome refused is not accepted later, under an ID from before that commit', async () => {
    const { clock, control, batches, rows, verdicts, send, keep } = hosting([0])
    send(item(0, 'a', register))
    await clock.pass(10)
    control.commit = (batch) => {
      keep(batch)
      control.commit = applied
      return { kind: 'unknown', detail: 'no answer' }
    }
    const byNext = `by ${OTHER_KEY.publicKey}`
    send(
      item(0, 'a', credit('a', 'too soon', byNext)),
      item(0, 'a', rotation('a')),
      item(0, 'a', credit('a', 'in time', byNext)),
    )
    await clock.pass(200)
    expect(kinds(verdicts)).toEqual(['registered', 'undecided', 'rotated', 'accepted'])
    expect(writes(batches, 'too soon')).toBe(0)
    // Asked for anew, it is accepted under an ID of its own time.
    send(item(0, 'a', credit('a', 'too soon', byNext)))
    await clock.pass(20)
    const ids = [...rows.transactions.values()].map(({ transaction }) => transaction.txnId)
    expect(ids).toHaveLength(2)
    expect(ids).toEqual(ids.toSorted())
  })

  test('H4: what breaks an invariant because the shard is another’s by now is given up, and is not held for broken', async () => {
    const { clock, control, host, logged, verdicts, send, give, serve } = hosting([0])
    control.commit = () => {
      give(0, 'another')
      return BROKEN
    }
    send(item(0, 'a', register))
    await clock.pass(100)
    expect(kinds(verdicts)).toEqual(['undecided'])
    expect(host.serving().has(0)).toBe(false)
    expect(host.refused()).toEqual([])
    expect(logged.map(({ event }) => event)).toContain('shard_fenced')
    expect(logged.map(({ event }) => event)).not.toContain('shard_quarantined')
    control.commit = applied
    await serve(0)
    send(item(0, 'a', register, { epoch: 3 }))
    await clock.pass(20)
    expect(kinds(verdicts)).toEqual(['undecided', 'registered'])
  })

  test('H4: while the store cannot say whose the shard is, it is neither stepped nor held for broken', async () => {
    const { clock, control, host, store, verdicts, batches, send } = hosting([0])
    const shards = store.shards
    let reached = false
    Object.assign(store, { shards: () => (reached ? shards() : Promise.reject(new Error('no answer'))) })
    control.commit = () => BROKEN
    send(item(0, 'a', register))
    await clock.pass(1_000)
    send(item(0, 'a2', register))
    await clock.pass(1_000)
    expect(batches).toHaveLength(1)
    expect([kinds(verdicts), host.refused()]).toEqual([[], []])
    reached = true
    await clock.pass(2_000)
    expect(host.refused()).toEqual([0])
    expect(kinds(verdicts)).toEqual(['undecided', 'undecided'])
  })
})
