/** B5, B6: the effect of a store that refuses all commits, or a key that does not sign, on requests, messages and replays. */
import { describe, expect, test } from 'vitest'
import { tokenAddress } from '../../../../../actors/address.ts'
import type { CommitBatch, CommitVerdict } from '../../../../../runtime/ports/ledger-store.ts'
import { type Signer, SignerUnavailable } from '../../../../../runtime/ports/signer.ts'
import {
  applied,
  balanceIn,
  credit,
  hosting,
  item,
  kinds,
  register,
  registerToken,
  transfer,
  writes,
} from '../../../../support/shard-hosting.ts'
import { minting, told } from '../mint-fixture.ts'

/** A full disk: a batch without rows only checks its fence. */
function full({ shards }: CommitBatch): CommitVerdict | undefined {
  const writesNothing = shards.every(
    ({ accounts, actors, marks }) => accounts.length + actors.length + marks.length === 0,
  )
  return writesNothing ? undefined : { kind: 'failed', cause: 'transient', detail: 'SQLSTATE 53100' }
}

describe('while the store refuses all rows', () => {
  test('every request is not_applied within a second, in few commits, and is accepted once the store accepts rows', async () => {
    const { clock, control, batches, verdicts, send } = hosting()
    send(item(0, 'a', register), item(1, 'b', register))
    await clock.pass(10)
    control.commit = (batch) => full(batch) ?? applied(batch)
    const [before, answered] = [batches.length, verdicts.length]
    const keys = Array.from({ length: 64 }, (_, index) => `k${index}`)
    const order = (key: string) => [item(0, 'a', credit('a', key)), item(1, 'b', credit('b', key))]
    send(...keys.flatMap(order))
    await clock.pass(1_000)
    expect(kinds(verdicts).slice(answered)).toEqual(Array.from({ length: 128 }, () => 'not_applied'))
    expect(batches.length - before).toBeLessThan(20)

    send(...order('later'))
    await clock.pass(500)
    expect(kinds(verdicts).slice(answered + 128)).toEqual(['not_applied', 'not_applied'])

    control.commit = applied
    const stored = batches.length
    send(...keys.flatMap(order))
    await clock.pass(500)
    expect(kinds(verdicts).slice(answered + 130)).toEqual(Array.from({ length: 128 }, () => 'accepted'))
    for (const key of keys) expect(writes(batches.slice(stored), key)).toBe(2)
  })

  test('a replay gets its reply, or an unknown outcome: the original was applied', async () => {
    const { clock, control, verdicts, send } = hosting()
    send(item(0, 'a', register))
    await clock.pass(10)
    send(item(0, 'a', credit('a', 'old')))
    await clock.pass(10)
    control.commit = (batch) => full(batch) ?? applied(batch)
    send(item(0, 'a', credit('a', 'old')), item(0, 'a', credit('a', 'new')))
    await clock.pass(2_000)
    expect(kinds(verdicts).slice(2).sort()).toEqual(['accepted', 'not_applied'])
  })

  test('a message waits, and is applied once', async () => {
    const { clock, control, rows, verdicts, send } = hosting()
    send(item(0, 'a', register), item(1, 'b', register))
    await clock.pass(10)
    send(item(0, 'a', credit('a', 'c', undefined, '5')))
    await clock.pass(10)
    let isFull = false
    control.commit = (batch) => {
      const sends = batch.shards.some(({ outbox }) => outbox.length > 0)
      const verdict = isFull ? full(batch) : undefined
      if (sends && verdict === undefined) isFull = true
      return verdict ?? applied(batch)
    }
    send(item(0, 'a', transfer('a', 'b', 't', '3')))
    await clock.pass(5_000)
    send(item(1, 'b', credit('b', 'refused')))
    await clock.pass(2_000)
    expect(kinds(verdicts).slice(3)).toEqual(['accepted', 'not_applied'])
    control.commit = applied
    await clock.pass(5_000)
    send(item(1, 'b', credit('b', 'refused')))
    await clock.pass(100)
    expect(kinds(verdicts).at(-1)).toBe('accepted')
    expect([balanceIn(rows, 'a'), balanceIn(rows, 'b')]).toEqual(['2', '4'])
  })

  const refusing = (): CommitVerdict => ({ kind: 'failed', cause: 'transient', detail: 'SQLSTATE 53100' })

  test('I12: a repeat of a registration that is under way is not told not_applied', async () => {
    const { clock, control, verdicts, send } = hosting([0])
    const order = (key: string) => item(0, tokenAddress('GOLD'), registerToken('GOLD', 'b', key))
    send(order('first'))
    await clock.pass(20)
    control.commit = refusing
    send(order('first'), item(0, tokenAddress('IRON'), registerToken('IRON', 'b', 'other')))
    await clock.pass(2_000)
    expect(kinds(verdicts)).toEqual(['not_applied'])
  })

  test('I12: a repeat of a mint that is under way is not told not_applied', async () => {
    const { clock, control, verdicts, ask, deliver, decision } = await minting()
    const first = ask('once')
    await clock.pass(20)
    control.commit = refusing
    const repeat = ask('once')
    const other = ask('other', { instance_id: 'opal' })
    await clock.pass(2_000)
    expect([...told(verdicts)]).toEqual([[other, 'not_applied']])
    control.commit = applied
    deliver(decision(0))
    await clock.pass(2_000)
    expect(told(verdicts).get(first)).toBe('ruby')
    expect(told(verdicts).get(repeat)).toBe('ruby, replayed')
  })
})

test('B6: while a key outside does not sign, every request is not_applied, and two lines tell of it', async () => {
  const signing = { fails: false }
  const signer: Signer = {
    verifyMany: (checks) => Promise.resolve(checks.map(() => true)),
    signMany: (_, payloads) =>
      signing.fails
        ? Promise.reject(new SignerUnavailable('the key program failed: ckr_a3'))
        : Promise.resolve(payloads.map(() => 'receipt')),
    receiptKeyId: () => 'receipt-key',
  }
  const { clock, batches, logged, verdicts, send } = hosting([0, 1], {}, { signer })
  send(item(0, 'a', register), item(1, 'b', register))
  await clock.pass(10)
  const [before, answered, linesBefore] = [batches.length, verdicts.length, logged.length]
  signing.fails = true
  const orders = (count: number) =>
    Array.from({ length: count }, (_, index) => `k${index}`).flatMap((key) => [
      item(0, 'a', credit('a', key)),
      item(1, 'b', credit('b', key)),
    ])
  send(...orders(64))
  await clock.pass(1_000)
  expect(kinds(verdicts).slice(answered)).toEqual(Array.from({ length: 128 }, () => 'not_applied'))
  expect(batches).toHaveLength(before)
  const lines = logged.slice(linesBefore).map(({ event }) => event)
  expect(lines).toEqual(['commit_failed', 'commits_refused'])

  signing.fails = false
  send(...orders(64))
  await clock.pass(500)
  expect(kinds(verdicts).slice(answered + 128)).toEqual(Array.from({ length: 128 }, () => 'accepted'))
})
