/** Goal: an NFT has one owner, and moves like value does: transferred, exchanged, delivered against payment (D5, D10, D11). */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Holder, type LedgerClient, textOf } from '../support/client.ts'
import type { Members } from '../support/client-keys.ts'
import { agreed, agreementOn, finalGroup, legFields, legStatuses, revertGroup } from '../support/client-groups.ts'
import {
  accepted,
  changeStatus,
  ended,
  free,
  funded,
  holdingOf,
  inMs,
  issued,
  keyed,
  moved,
  outcomeOf,
  submitted,
} from '../support/client-moves.ts'
import { classOf, handing, historyOf, instanceOf, mint, mintedTo, ownedBy } from '../support/client-nfts.ts'
import type { GetScene } from './scene.ts'

export function nftMovesSuite(scene: GetScene): void {
  describe('NFTs that move', () => {
    transfers(scene)
    exchanges(scene)
    groups(scene)
    shapes(scene)
  })
}

function transfers(scene: GetScene): void {
  test('D11: only the owner sends; the history says whose it was; a burned one is readable and never minted again', async () => {
    const { client, elsewhere, admin } = scene()
    const [alice, bob] = [await client.register('alice@nfts'), await client.register('bob@nfts')]
    const classId = await classOf(client, 'Handed', alice)
    const nft = await mintedTo(client, alice, { class_id: classId, instance_id: 'gem' })
    const toBob = { type: 'transfer', to_account_id: bob.accountId, ...nft }
    const sent = await moved(client, alice, { ...toBob, metadata: { note: 'yours' } })
    const sentId = textOf(sent, 'txn_id')
    expect(sent).toMatchObject({ class_id: classId, instance_id: 'gem', to_account_id: bob.accountId })
    expect(await instanceOf(elsewhere, nft)).toMatchObject({ owner: bob.accountId, status: 'active' })
    expect([await ownedBy(client, alice), await ownedBy(client, bob)]).toEqual([[], ['gem']])
    expect(await submitted(client, alice, toBob)).toMatchObject({ status: 'failed', failure: { code: 'not_owner' } })
    expect(outcomeOf(await changeStatus(admin, bob, { status: 'closed' }))).toBe('409 ERR_CONFLICT')
    const burnId = textOf(await moved(client, bob, { type: 'burn', ...nft }), 'txn_id')
    expect(await instanceOf(client, nft)).toMatchObject({ owner: bob.accountId, status: 'burned' })
    expect(await ownedBy(client, bob)).toEqual([])
    expect(await historyOf(client, nft)).toEqual([
      expect.objectContaining({ type: 'mint', from: null, to: alice.accountId }),
      expect.objectContaining({ type: 'transfer', from: alice.accountId, to: bob.accountId, txn_id: sentId }),
      expect.objectContaining({ type: 'burn', from: bob.accountId, to: bob.accountId, txn_id: burnId }),
    ])
    expect(outcomeOf(await mint(client, alice, classId, { instance_id: 'gem' }))).toBe('409 ERR_CONFLICT')
    expect(await submitted(client, bob, { type: 'burn', ...nft })).toMatchObject({ failure: { code: 'not_owner' } })
    expect(outcomeOf(await changeStatus(admin, bob, { status: 'closed' }))).toBe('200')
  })

  test('a receiver that refuses leaves it where it was; an administrator gives a linked one back', async () => {
    const { client, admin } = scene()
    const [alice, bob] = [await client.register('alice@back'), await client.register('bob@back')]
    const classId = await classOf(client, 'Given back', alice)
    const nft = await mintedTo(client, alice, { class_id: classId, instance_id: 'gem' })
    const toBob = { type: 'transfer', to_account_id: bob.accountId, ...nft }
    await changeStatus(admin, bob, { incoming: 'refuse' })
    expect(await submitted(client, alice, toBob)).toMatchObject({ failure: { code: 'incoming_refused' } })
    expect(await instanceOf(client, nft)).toMatchObject({ owner: alice.accountId, status: 'active' })
    await changeStatus(admin, bob, { incoming: 'accept' })
    const groupId = randomUUID()
    const sent = await moved(client, alice, { ...toBob, group_id: groupId })
    expect((await revertGroup(admin, groupId, { txn_ids: [textOf(sent, 'txn_id')] })).status).toBe(202)
    await expect
      .poll(async () => (await client.read(`/v1/transactions/${textOf(sent, 'txn_id')}`))['compensated_by'], {
        timeout: 10_000,
      })
      .toBeTypeOf('string')
    // Its home hears of it after the account has said so.
    await expect
      .poll(() => instanceOf(client, nft), { timeout: 10_000 })
      .toMatchObject({ owner: alice.accountId, status: 'active' })
    expect((await historyOf(client, nft)).map(({ type, to }) => [type, to])).toEqual([
      ['mint', alice.accountId],
      ['transfer', bob.accountId],
      ['transfer', alice.accountId],
    ])
  })
}

function exchanges(scene: GetScene): void {
  test('D5: an NFT is exchanged for value, and for another NFT, in one decision', async () => {
    const { client } = scene()
    const alice = await client.register('alice@swap')
    const bob = await client.register('bob@swap')
    await issued(client, 'SWAP', bob, '50')
    const classId = await classOf(client, 'Swapped', alice)
    const ruby = await mintedTo(client, alice, { class_id: classId, instance_id: 'ruby' })
    const opal = await mintedTo(client, alice, { class_id: classId, instance_id: 'opal' }, bob)
    const price = { token_id: 'SWAP', amount: '20' }
    await exchanged(client, [alice, ruby], [bob, price])
    expect(await instanceOf(client, ruby)).toMatchObject({ owner: bob.accountId, status: 'active' })
    expect(await holdingOf(client, alice.accountId, 'SWAP')).toEqual(free('20'))
    await exchanged(client, [alice, price], [bob, ruby])
    await exchanged(client, [bob, opal], [alice, ruby])
    expect(await instanceOf(client, ruby)).toMatchObject({ owner: bob.accountId, status: 'active' })
    expect(await instanceOf(client, opal)).toMatchObject({ owner: alice.accountId, status: 'active' })
    expect((await historyOf(client, ruby)).map(({ to }) => to)).toEqual([
      alice.accountId,
      bob.accountId,
      alice.accountId,
      bob.accountId,
    ])
  })

  test('D5: an exchange whose mirror does not come lets its NFT go before it says so', async () => {
    const { client } = scene()
    const [alice, bob] = [await client.register('alice@late'), await client.register('bob@late')]
    const classId = await classOf(client, 'Late', alice)
    const [ruby, opal] = [
      await mintedTo(client, alice, { class_id: classId, instance_id: 'ruby' }),
      await mintedTo(client, alice, { class_id: classId, instance_id: 'opal' }, bob),
    ]
    const offered = await accepted(client, alice, {
      ...offer(randomUUID(), ruby, bob, opal),
      expires_at: inMs(8_000),
    })
    await expect.poll(async () => (await instanceOf(client, ruby))['status'], { timeout: 5_000 }).toBe('held')
    const elsewhere = { type: 'transfer', to_account_id: bob.accountId, ...ruby }
    expect(await submitted(client, alice, elsewhere)).toMatchObject({ failure: { code: 'held' } })
    expect(await ended(client, offered)).toMatchObject({ failure: { code: 'exchange_expired' } })
    expect(await instanceOf(client, ruby)).toMatchObject({ owner: alice.accountId, status: 'active' })
  })
}

type Side = readonly [Holder, Members]

function offer(groupId: string, gives: Members, to: Holder, receive: Members): Members {
  return { type: 'exchange', group_id: groupId, ...gives, to_account_id: to.accountId, receive }
}

async function exchanged(client: LedgerClient, [a, gives]: Side, [b, wants]: Side): Promise<void> {
  const groupId = randomUUID()
  const offered = await accepted(client, a, offer(groupId, gives, b, wants))
  const mirrored = await accepted(client, b, offer(groupId, wants, a, gives))
  for (const receipt of [offered, mirrored]) expect(await ended(client, receipt)).toMatchObject({ status: 'completed' })
}

function groups(scene: GetScene): void {
  test('D10: delivery against payment is all or nothing', async () => {
    const { client } = scene()
    const seller = await client.register('seller@dvp')
    const buyer = await funded(client, 'buyer@dvp', '100')
    const classId = await classOf(client, 'Delivered', seller)
    const nft = await mintedTo(client, seller, { class_id: classId, instance_id: 'deed' })
    const pays = { account_id: buyer.accountId, type: 'transfer', amount: '60', to_account_id: seller.accountId }
    const settling = await agreed(client, agreementOn([handing(seller, buyer, nft), pays]))
    const delivered = await moved(client, seller, legFields(settling, 0))
    expect(delivered).toMatchObject({ status: 'completed', instance_id: 'deed' })
    expect(await instanceOf(client, nft)).toMatchObject({ owner: seller.accountId, status: 'held' })
    await moved(client, buyer, legFields(settling, 1))
    expect(await finalGroup(client, settling)).toMatchObject({ status: 'settled' })
    expect(await instanceOf(client, nft)).toMatchObject({ owner: buyer.accountId, status: 'active' })
    expect(await holdingOf(client, seller.accountId)).toEqual(free('60'))
    expect((await historyOf(client, nft)).at(-1)).toMatchObject({ type: 'transfer', txn_id: delivered['txn_id'] })
  })

  test('D10: what fails gives everything back, the NFT by a transfer', async () => {
    const { client } = scene()
    const seller = await client.register('seller@failing')
    const buyer = await funded(client, 'buyer@failing', '10')
    const classId = await classOf(client, 'Undelivered', seller)
    const nft = await mintedTo(client, seller, { class_id: classId, instance_id: 'deed' })
    const pays = { account_id: buyer.accountId, type: 'transfer', amount: '60', to_account_id: seller.accountId }
    const failing = await agreed(client, agreementOn([handing(seller, buyer, nft), pays]))
    const delivered = await moved(client, seller, legFields(failing, 0))
    expect(await submitted(client, buyer, legFields(failing, 1))).toMatchObject({
      failure: { code: 'insufficient_funds' },
    })
    const group = await finalGroup(client, failing)
    expect([group['status'], legStatuses(group)]).toEqual(['reverted', ['compensated', 'failed']])
    const { compensated_by: by } = await client.read(`/v1/transactions/${textOf(delivered, 'txn_id')}`)
    expect(await client.read(`/v1/transactions/${String(by)}`)).toMatchObject({ type: 'transfer', origin: 'ledger' })
    expect(await instanceOf(client, nft)).toMatchObject({ owner: seller.accountId, status: 'active' })
    expect((await historyOf(client, nft)).length).toBe(1)
  })

  test('D10: a leg of an NFT that is another’s fails, and its group with it', async () => {
    const { client } = scene()
    const [owner, thief] = [await client.register('owner@theft'), await funded(client, 'thief@theft', '5')]
    const classId = await classOf(client, 'Stolen', owner)
    const nft = await mintedTo(client, owner, { class_id: classId, instance_id: 'deed' })
    const legs = [
      handing(thief, owner, nft),
      { account_id: thief.accountId, type: 'transfer', amount: '1', to_account_id: owner.accountId },
    ]
    const agreement = await agreed(client, agreementOn(legs))
    expect(await submitted(client, thief, legFields(agreement, 0))).toMatchObject({ failure: { code: 'not_owner' } })
    expect(await finalGroup(client, agreement)).toMatchObject({ status: 'reverted' })
    expect(await instanceOf(client, nft)).toMatchObject({ owner: owner.accountId, status: 'active' })
  })
}

function shapes(scene: GetScene): void {
  test('D11: an NFT is transferred, exchanged or burned, whole, to somebody', async () => {
    const { client } = scene()
    const alice = await client.register('alice@shapes')
    const bob = await client.register('bob@shapes')
    const classId = await classOf(client, 'Shaped', alice)
    const nft = await mintedTo(client, alice, { class_id: classId, instance_id: 'gem' })
    const to = { to_account_id: bob.accountId }
    const cases: readonly (readonly [string, Members])[] = [
      ['400 ERR_INVALID_TYPE', { type: 'credit', ...nft }],
      ['400 ERR_INVALID_TYPE', { type: 'debit', ...nft }],
      ['400 ERR_INVALID_TYPE', { type: 'mint', ...nft }],
      ['400 ERR_INVALID_AMOUNT', { type: 'transfer', ...nft, ...to, amount: '2' }],
      ['400 ERR_INVALID_TOKEN_ID', { type: 'transfer', ...nft, ...to, token_id: 'BASE' }],
      ['400 ERR_INVALID_ACCOUNT_ID', { type: 'transfer', ...nft, group_id: randomUUID() }],
      ['404 ERR_NOT_FOUND', { type: 'transfer', ...nft, ...to, instance_id: 'none' }],
      ['404 ERR_NOT_FOUND', { type: 'burn', ...nft, class_id: 'no class' }],
      ['404 ERR_NOT_FOUND', { type: 'burn', ...nft, class_id: `${classId}/gem` }],
      ['404 ERR_NOT_FOUND', { type: 'transfer', ...nft, to_account_id: 'nobody@shapes' }],
      ['400 ERR_SELF_TRANSFER', { type: 'transfer', ...nft, to_account_id: alice.accountId }],
    ]
    for (const [outcome, fields] of cases) {
      expect([JSON.stringify(fields), outcomeOf(await client.submit(alice, keyed(fields)))]).toEqual([
        JSON.stringify(fields),
        outcome,
      ])
    }
    const late = { type: 'transfer', ...nft, ...to, expires_at: inMs(-1_000) }
    expect((await client.submit(alice, keyed(late))).status).toBe(400)
    expect(await instanceOf(client, nft)).toMatchObject({ owner: alice.accountId, status: 'active' })
  })
}
