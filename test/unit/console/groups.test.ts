/** Settlement groups: receipts and the hash of the terms prove the legs, and the log gives the groups that ended. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import {
  type Event,
  type EventList,
  type GroupLeg,
  type SettlementGroup,
  termsHash,
} from '../../../api/client/index.ts'
import { MOST_ARRIVED, readLog, withArrived, withNewest } from '../../../api/console/pages/group/ended-groups.ts'
import { groupFinding } from '../../../api/console/proofs/group-finding.ts'
import type { ArrivedEvent } from '../../../api/console/session/event-feed.ts'
import { ownKeys, receiptsOf, signedReceipt } from './signed-receipts.ts'

describe('the legs of a group', () => {
  const leg: GroupLeg = {
    account_id: 'alice',
    type: 'debit',
    amount: '5',
    token_id: 'GOLD',
    leg_status: 'completed',
    txn_id: 't1',
  }
  const group = {
    group_id: 'g',
    expected_legs: 1,
    legs: [leg],
    terms_hash: null,
    created_at: '2026-11-29T12:00:00.000Z',
    due_at: '2026-11-29T12:15:00.000Z',
  } as object as SettlementGroup
  const signedLeg = signedReceipt({ txn_id: 't1', type: 'debit', amount: '5', token_id: 'GOLD', group_id: 'g' })

  test('verify by their receipts', async () => {
    expect(await groupFinding(group, ownKeys, receiptsOf(signedLeg))).toMatchObject({
      outcome: 'verified',
      proved: ['Receipts prove 1 of 1 legs.', 'The ledger signed that leg 1 is completed: debit of 5 GOLD of alice.'],
    })
  })

  test('are tampered with if one differs from its receipt', async () => {
    const changed = { ...group, legs: [{ ...leg, amount: '6' }] }
    expect(await groupFinding(changed, ownKeys, receiptsOf(signedLeg))).toMatchObject({
      outcome: 'tampered',
      problem: 'Leg 1 (t1): its amount is not that of its receipt.',
    })
    expect(await groupFinding({ ...group, group_id: 'h' }, ownKeys, receiptsOf(signedLeg))).toMatchObject({
      problem: expect.stringContaining('its group'),
    })
  })

  test('are tampered with if the page leaves out a receiver', async () => {
    const transfer = signedReceipt({ ...signedLeg.receipt, to_account_id: 'bob' } as object as JsonObject)
    expect(await groupFinding(group, ownKeys, receiptsOf(transfer))).toMatchObject({
      outcome: 'tampered',
      problem: 'Leg 1 (t1): its to_account_id is not that of its receipt.',
    })
  })

  test.for([
    ['as they are shown', { token_id: 'GOLD' }, 'GOLD'],
    ['without their own unit', {}, 'BASE'],
  ] as const)('have the hash of the terms, %s', async ([, asset, shown]) => {
    const terms = { account_id: 'alice', type: 'debit', amount: '5', ...asset } as const
    const hash = await termsHash({ groupId: 'g', legs: [terms], timeoutSeconds: 900 })
    const agreed = { ...group, terms_hash: hash, legs: [{ ...leg, token_id: shown }] }
    const signed = signedReceipt({ ...signedLeg.receipt, token_id: shown } as object as JsonObject)
    expect(await groupFinding(agreed, ownKeys, receiptsOf(signed))).toMatchObject({
      outcome: 'verified',
      proved: expect.arrayContaining([`${hash} is the hash of the 1 legs, due within 900 s.`]),
    })
    const later = { ...agreed, due_at: '2026-11-29T12:16:00.000Z' }
    expect(await groupFinding(later, ownKeys, receiptsOf(signed))).toMatchObject({
      outcome: 'unproved',
      problem: expect.stringContaining('The terms of the group: its terms_hash cannot be recomputed'),
      proved: expect.arrayContaining(['Receipts prove 1 of 1 legs.']),
    })
  })

  test('are tampered with if two of them show one transaction', async () => {
    const twice = { ...group, expected_legs: 2, legs: [leg, leg] }
    expect(await groupFinding(twice, ownKeys, receiptsOf(signedLeg))).toMatchObject({
      outcome: 'tampered',
      problem: 'Leg 2 (t1): another leg shows the same transaction.',
    })
  })

  test('are tampered with if one failed and the page shows it as completed', async () => {
    const failed = signedReceipt({ ...signedLeg.receipt, status: 'failed' } as object as JsonObject)
    expect(await groupFinding(group, ownKeys, receiptsOf(failed))).toMatchObject({
      outcome: 'tampered',
      problem: 'Leg 1 (t1): its status is not that of its receipt.',
    })
    const shown = { ...group, legs: [{ ...leg, leg_status: 'failed' as const }] }
    expect(await groupFinding(shown, ownKeys, receiptsOf(failed))).toMatchObject({ outcome: 'verified' })
  })

  test('say how many of them have a receipt', async () => {
    const { txn_id: _, ...open } = leg
    const half = { ...group, expected_legs: 3, legs: [leg, { ...open, leg_status: 'expected' as const }] }
    expect(await groupFinding(half, ownKeys, receiptsOf(signedLeg))).toMatchObject({
      outcome: 'verified',
      proved: expect.arrayContaining(['Receipts prove 1 of 3 legs.']),
      unproved: expect.arrayContaining([
        expect.stringContaining('Leg 2:'),
        expect.stringContaining('1 more legs'),
        expect.stringContaining('the group has none'),
      ]),
    })
  })

  test('prove nothing while none is final', async () => {
    const { txn_id: _, ...open } = leg
    const waiting = { ...group, legs: [{ ...open, leg_status: 'expected' as const }] }
    expect(await groupFinding(waiting, ownKeys, receiptsOf())).toMatchObject({ outcome: 'unproved' })
  })
})

describe('the groups that ended', () => {
  const event = (id: string): Event => ({ id }) as object as Event
  const page = (next: string, ...ids: readonly string[]): EventList =>
    ({ events: ids.map(event), next_cursor: next }) as object as EventList

  /** A log by cursor: the last page has its own cursor. */
  const logOf =
    (...pages: readonly EventList[]) =>
    (cursor: string) =>
      Promise.resolve(pages[Number(cursor)] ?? page(cursor))

  test('are read to the end of the log, over pages without events', async () => {
    const { rows, next } = await readLog(undefined, logOf(page('1', 'one'), page('2'), page('3'), page('3', 'two')))
    expect({ ids: rows.map(({ id }) => id), next }).toEqual({ ids: ['one', 'two'], next: '' })
  })

  test('are read on from where a long log was left', async () => {
    const long = logOf(...Array.from({ length: 8 }, (_, index) => page(String(index + 1), `e${index}`)))
    const first = await readLog(undefined, long)
    expect(first.rows).toHaveLength(5)
    const rest = await readLog(first.next, long)
    expect({ ids: rest.rows.map(({ id }) => id), next: rest.next }).toEqual({ ids: ['e5', 'e6', 'e7'], next: '' })
  })

  test('are read until there are enough of them', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `e${index}`)
    expect(await readLog(undefined, logOf(page('1', ...many), page('2', 'later')))).toMatchObject({ next: '1' })
  })

  test('are kept as they arrive, newest first, up to a limit', () => {
    const arrived = (id: string, type: string): ArrivedEvent =>
      ({ event: { id, type }, arrivedAtMs: 0 }) as object as ArrivedEvent
    const settled = (id: string): ArrivedEvent => arrived(id, 'ledger.group.settled.v1')
    const two = withArrived([event('a')], [settled('b'), arrived('t', 'ledger.transaction.completed.v1'), settled('c')])
    expect(two.map(({ id }) => id)).toEqual(['c', 'b', 'a'])
    const many = withArrived(
      two,
      Array.from({ length: MOST_ARRIVED }, (_, index) => settled(`e${index}`)),
    )
    expect([many.length, many[0]?.id, many.at(-1)?.id]).toEqual([MOST_ARRIVED, `e${MOST_ARRIVED - 1}`, 'e0'])
  })

  test('are shown newest first, each once', () => {
    const value = { rows: [event('a'), event('b')], next: '' }
    const paged = { loaded: { state: 'done', value }, more: undefined, isLoadingMore: false, reload: () => {} } as const
    const { loaded } = withNewest(paged, [event('c'), event('b')])
    expect(loaded).toMatchObject({ value: { rows: [{ id: 'c' }, { id: 'b' }, { id: 'a' }] } })
  })
})
