/** An erasure commits after earlier changes of its account. A repeated erasure gets the same reply. */
import { describe, expect, test } from 'vitest'
import type { Operation } from '../../../../runtime/protocol/messages.ts'
import { hosting, kinds, register } from '../../../support/shard-hosting.ts'

const CLOSE: Operation = { kind: 'change_status', status: 'closed', incoming: null, reason: 'r' }
const ERASE: Operation = { kind: 'erase', reason: 'r' }

describe('an erasure', () => {
  test('waits for the commit of what came before it in its batch', async () => {
    const { clock, batches, verdicts, item, send } = hosting([0])
    send(item(0, 'a', register), item(0, 'a', CLOSE), item(0, 'a', ERASE), item(0, 'a', register))
    await clock.pass(100)
    expect(kinds(verdicts)).toEqual(['registered', 'status_changed', 'status_changed', 'public_key_conflict'])
    const parts = batches.flatMap(({ shards }) => shards)
    const erasing = parts.filter(({ erased }) => erased.length > 0)
    expect(erasing.map(({ erased }) => erased)).toEqual([['a']])
    expect(erasing.flatMap(({ entries }) => entries.map(({ sequence }) => sequence))).toEqual([2])
    expect(erasing.flatMap(({ keys, balances }) => [...keys, ...balances])).toEqual([])
    expect(erasing[0]?.accounts[0]).toMatchObject({ previousVersion: 2, account: { status: 'erased', key: null } })
  })
})
