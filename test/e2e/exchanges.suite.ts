/** Goal: an exchange is a swap of exactly what both have signed, with exactly the one they have named, or nothing (D5). */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { textOf } from '../support/client.ts'
import type { Members } from '../support/client-keys.ts'
import {
  accepted,
  changeStatus,
  ended,
  free,
  funded,
  holdingOf,
  inMs,
  keyed,
  moved,
  outcomeOf,
  submitted,
} from '../support/client-moves.ts'
import { checkOffline } from './offline-check.ts'
import type { GetScene } from './scene.ts'
import { offers, tradersOf } from './traders.ts'

/** So short that a test waits for it, so long that what must come before it does. */
const EXPIRY_MS = 8000

export function exchangesSuite(scene: GetScene): void {
  describe('exchanges', () => {
    pairs(scene)
    endings(scene)
  })
}

function pairs(scene: GetScene): void {
  test('D5: two mirror submissions complete both, amounts written in whatever way, chains and receipts good', async () => {
    const { client, elsewhere } = scene()
    const traders = await tradersOf(client, 'mirror')
    const { alice, bob, gold, silver } = traders
    const { given, mirror } = offers(traders)
    const first = await accepted(client, alice, given)
    const txnId = textOf(first, 'txn_id')
    expect(await client.read(`/v1/transactions/${txnId}`)).toMatchObject({ status: 'pending', audit_hash: null })
    expect((await client.get(`/v1/transactions/${txnId}/receipt`)).status).toBe(404)
    expect(await holdingOf(client, alice.accountId, gold)).toMatchObject({ balance: '100', available: '99' })
    const second = await accepted(elsewhere, bob, mirror)
    const [one, other] = await Promise.all([ended(client, first), ended(elsewhere, second)])
    expect(one).toMatchObject({
      status: 'completed',
      amount: '1.0',
      group_id: given['group_id'],
      to_account_id: bob.accountId,
      receive: { token_id: silver, amount: '25' },
    })
    expect(other).toMatchObject({ status: 'completed', amount: '25', receive: { token_id: gold, amount: '1' } })
    expect(await holdingOf(client, alice.accountId, gold)).toEqual(free('99'))
    expect(await holdingOf(client, alice.accountId, silver)).toEqual(free('25'))
    expect(await holdingOf(client, bob.accountId, gold)).toEqual(free('1'))
    expect(await holdingOf(client, bob.accountId, silver)).toEqual(free('75'))
    const checked = await checkOffline(client, [alice.accountId, bob.accountId])
    expect(checked).toMatchObject({ code: 0 })
    for (const known of checked.txnIds) expect(checked.out).toContain(`ok: receipt of ${known}`)
  })

  test('I4: many exchanges at once, each side at another edge, complete pair by pair', async () => {
    const { client, elsewhere } = scene()
    const traders = await tradersOf(client, 'many')
    const receipts = await Promise.all(
      Array.from({ length: 20 }, () => offers(traders)).flatMap(({ given, mirror }) => [
        accepted(client, traders.alice, { ...given, receive: { token_id: traders.silver, amount: '2' } }),
        accepted(elsewhere, traders.bob, { ...mirror, amount: '2' }),
      ]),
    )
    const details = await Promise.all(receipts.map((receipt) => ended(client, receipt)))
    expect(details.map(({ status }) => status)).toEqual(details.map(() => 'completed'))
    expect(await holdingOf(client, traders.alice.accountId, traders.gold)).toEqual(free('80'))
    expect(await holdingOf(client, traders.alice.accountId, traders.silver)).toEqual(free('40'))
    expect(await holdingOf(client, traders.bob.accountId, traders.gold)).toEqual(free('20'))
    expect(await holdingOf(client, traders.bob.accountId, traders.silver)).toEqual(free('60'))
  })

  test('D5: a third party cannot take the place of the one who is named', async () => {
    const { client, stranger } = scene()
    const traders = await tradersOf(client, 'third')
    const { alice, bob, gold, silver } = traders
    const mallory = await funded(stranger, 'mallory@trade', '100', silver)
    const { given, mirror } = offers(traders)
    const offer = await accepted(client, alice, given)
    const intruding = await accepted(stranger, mallory, { ...mirror, expires_at: inMs(EXPIRY_MS) })
    // The home of the group has seen the intruder when it gives it up: the offer still waits, and its mirror still fits.
    expect(await ended(stranger, intruding)).toMatchObject({
      status: 'failed',
      failure: { code: 'exchange_expired' },
    })
    expect(await client.read(`/v1/transactions/${textOf(offer, 'txn_id')}`)).toMatchObject({ status: 'pending' })
    expect(await holdingOf(stranger, mallory.accountId, silver)).toEqual(free('100'))
    await moved(client, bob, mirror)
    expect(await ended(client, offer)).toMatchObject({ status: 'completed' })
    expect(await holdingOf(client, mallory.accountId, gold)).toEqual(free('0'))
    expect(await holdingOf(client, bob.accountId, gold)).toEqual(free('1'))
  })
}

function endings(scene: GetScene): void {
  test('D5: one side alone, and sides that are no mirror of each other, expire: nothing moved, nothing stays reserved', async () => {
    const { client } = scene()
    const alone = await tradersOf(client, 'alone')
    const odd = await tradersOf(client, 'odd')
    const expiry = { expires_at: inMs(EXPIRY_MS) }
    const lone = await accepted(client, alone.alice, { ...offers(alone).given, ...expiry })
    const { given, mirror } = offers(odd)
    const [amount, asset, group] = await Promise.all([
      accepted(client, odd.alice, { ...given, ...expiry }),
      accepted(client, odd.bob, { ...mirror, amount: '24.99', ...expiry }),
      accepted(client, odd.bob, { ...mirror, group_id: randomUUID(), ...expiry }),
    ])
    for (const receipt of [lone, amount, asset, group]) {
      expect(await ended(client, receipt)).toMatchObject({
        status: 'failed',
        failure: { code: 'exchange_expired' },
        audit_hash: null,
      })
    }
    for (const { alice, bob, gold, silver } of [alone, odd]) {
      expect(await holdingOf(client, alice.accountId, gold)).toEqual(free('100'))
      expect(await holdingOf(client, bob.accountId, silver)).toEqual(free('100'))
      expect(await holdingOf(client, bob.accountId, gold)).toEqual(free('0'))
    }
    // All of it can be spent, and the room that was kept is free.
    await moved(client, alone.alice, { type: 'debit', amount: '100', token_id: alone.gold })
    await moved(client, alone.alice, { type: 'credit', amount: '9'.repeat(18), token_id: alone.silver })
  })

  test('D5: what an exchange lacks fails it at once: the funds, or the room for what it would bring', async () => {
    const { client, admin } = scene()
    const traders = await tradersOf(client, 'lacking')
    const { alice, bob, gold, silver } = traders
    const { given, mirror } = offers(traders)
    const short = await submitted(client, alice, { ...given, amount: '100.01' })
    expect(short).toMatchObject({ status: 'failed', failure: { code: 'insufficient_funds' } })
    await moved(client, bob, { type: 'credit', amount: '9'.repeat(18), token_id: gold })
    const full = await submitted(client, bob, mirror)
    expect(full).toMatchObject({ status: 'failed', failure: { code: 'balance_limit' } })
    await changeStatus(admin, alice, { incoming: 'refuse' })
    expect(await submitted(client, alice, given)).toMatchObject({ failure: { code: 'incoming_refused' } })
    expect(await holdingOf(client, alice.accountId, gold)).toEqual(free('100'))
    expect(await holdingOf(client, bob.accountId, silver)).toEqual(free('100'))
  })

  test('D5: an exchange in pieces, or of an asset with itself, is 400 and names what is wrong', async () => {
    const { client } = scene()
    const traders = await tradersOf(client, 'pieces')
    const { given } = offers(traders)
    const without = (field: string): Members =>
      Object.fromEntries(Object.entries(given).filter(([name]) => name !== field))
    const cases: readonly (readonly [string, string, Members])[] = [
      ['no group', '400 ERR_INVALID_GROUP_ID', without('group_id')],
      ['no other side', '400 ERR_INVALID_ACCOUNT_ID', without('to_account_id')],
      ['nothing in return', '400 ERR_INVALID_FIELD', without('receive')],
      ['no asset', '400 ERR_INVALID_TOKEN_ID', without('token_id')],
      ['the same asset', '400 ERR_INVALID_TOKEN_ID', { ...given, receive: { token_id: traders.gold, amount: '1' } }],
      ['the account itself', '400 ERR_SELF_TRANSFER', { ...given, to_account_id: traders.alice.accountId }],
    ]
    for (const [what, outcome, fields] of cases) {
      expect([what, outcomeOf(await client.submit(traders.alice, keyed(fields)))]).toEqual([what, outcome])
    }
    expect(await holdingOf(client, traders.alice.accountId, traders.gold)).toEqual(free('100'))
  })
}
