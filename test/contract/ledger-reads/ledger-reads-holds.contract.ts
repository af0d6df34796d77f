/** The contract of every LedgerReads for holds (D25). */
import { expect, test } from 'vitest'
import { type HoldState, type HoldStatus, holdViewOf } from '../../../actors/hold/state.ts'
import { encodeUlid } from '../../../actors/identifiers.ts'
import { pagesOf, SEED_START_MS, type Seeded } from './ledger-reads-scene.ts'

const LATER_MS = SEED_START_MS + 20_000

let holds = 0

/** Later ones have larger IDs. */
function aHold(payer: string, changes: Partial<HoldState> = {}): HoldState {
  holds += 1
  const ulid = encodeUlid({ timeMs: LATER_MS + holds, counter: 0, shardId: 0, random: 7 })
  const ended = changes.status !== undefined && changes.status !== 'active'
  return {
    kind: 'hold',
    format: 1,
    id: `hld_${ulid}`,
    version: 1,
    status: 'active',
    accountId: payer,
    toAccountId: 'bob',
    tokenId: 'BASE',
    amount: '12.5',
    captured: '2.50',
    metadata: ended ? null : { order: 'é' },
    expiresAtMs: LATER_MS + 60_000,
    createdAtMs: LATER_MS,
    endedAtMs: ended ? LATER_MS + 5 : null,
    lastTimeMs: LATER_MS,
    dueAtMs: ended ? null : LATER_MS + 60_000,
    ...changes,
  }
}

export function holdTests(seeded: () => Seeded): void {
  test('a hold is found by its ID, with what remains of it', async () => {
    const { reads, book, write } = seeded()
    const [active, released] = [aHold('ann'), aHold('ann', { status: 'released' })]
    expect(await reads.hold(active.id)).toBeUndefined()
    await write([book.put(active), book.put(released)])
    expect(await reads.hold(active.id)).toEqual(holdViewOf(active))
    expect(await reads.hold(active.id)).toMatchObject({ amount: '12.5', captured: '2.5', remaining: '10' })
    expect(await reads.hold(released.id)).toMatchObject({ status: 'released', remaining: '0', metadata: null })
    for (const id of ['', 'hld_', active.id.toLowerCase(), `${active.id}0`, active.id.replace('hld', 'txn'), 'a\0b']) {
      expect(await reads.hold(id)).toBeUndefined()
    }
  })

  test('the holds of a payer come by status and ID, each once', async () => {
    const { reads, book, write } = seeded()
    await write([book.open('payer', LATER_MS), book.open('payer.2', LATER_MS)])
    expect(await reads.holds('payer', 'active', null, 10)).toEqual({ holds: [], next: null })
    const active = Array.from({ length: 5 }, () => aHold('payer'))
    const ended = (['captured', 'released', 'expired', 'released'] as const).map((status) => aHold('payer', { status }))
    const others = [aHold('payer.2'), aHold('Payer'), aHold('bob', { toAccountId: 'payer' })]
    await write([...ended, ...others, ...active.toReversed()].map((state) => book.put(state)))
    for (const limit of [1, 2, 4, 5, 1_000]) {
      const pages = await pagesOf((after: string | null) => reads.holds('payer', 'active', after, limit))
      expect(pages.flatMap((page) => page.holds)).toEqual(active.map(holdViewOf))
      expect(pages).toHaveLength(Math.ceil(active.length / limit))
    }
    const idsOf = async (status: HoldStatus) =>
      (await reads.holds('payer', status, null, 10))?.holds.map((hold) => hold.holdId)
    for (const status of ['captured', 'released', 'expired'] as const) {
      expect(await idsOf(status)).toEqual(ended.filter((hold) => hold.status === status).map(({ id }) => id))
    }
    for (const accountId of ['unknown', 'Payer', '', 'a\0b']) {
      expect(await reads.holds(accountId, 'active', null, 10)).toBeUndefined()
    }
  })

  test('a hold that ends leaves the list of active ones', async () => {
    const { reads, book, write } = seeded()
    await write([book.open('payer-of-one', LATER_MS)])
    const hold = aHold('payer-of-one')
    await write([book.put(hold)])
    const ended = {
      ...hold,
      version: 2,
      status: 'expired',
      metadata: null,
      dueAtMs: null,
      endedAtMs: LATER_MS,
    } as const
    await write([book.put(ended)])
    expect(await reads.holds('payer-of-one', 'active', null, 10)).toEqual({ holds: [], next: null })
    expect((await reads.holds('payer-of-one', 'expired', null, 10))?.holds).toEqual([holdViewOf(ended)])
  })
}
