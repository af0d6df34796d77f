/** Goal: value moves between accounts of any two nodes and ends in time, with chains and receipts that anybody can check (D5, D10). */
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { describe, expect, test, vi } from 'vitest'
import { type Holder, type LedgerClient, membersOf, textOf } from '../support/client.ts'
import {
  agreed,
  agreementOn,
  compensationsOf,
  finalGroup,
  groupOf,
  legFields,
  legStatuses,
  payment,
  revertGroup,
} from '../support/client-groups.ts'
import { type Members, signed } from '../support/client-keys.ts'
import {
  accepted,
  ended,
  free,
  funded,
  holdingOf,
  inMs,
  keyed,
  moved,
  outcomeOf,
  submitted,
  WAITING,
} from '../support/client-moves.ts'
import { checkOffline } from './offline-check.ts'
import type { GetScene, Scene } from './scene.ts'
import { offers, tradersOf } from './traders.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const REGISTERED_AT_ONCE = 32
/** So short that a test waits for it, so long that what must come before it does. */
const EXPIRY_MS = 8000
const TIMEOUT_S = 8

export function endedMovesSuite(scene: GetScene): void {
  describe('from the order to its end', () => {
    transfers(scene)
    exchanges(scene)
    groups(scene)
    declines(scene)
    expiries(scene)
    timeouts(scene)
  })
}

interface Pair {
  readonly from: Holder
  readonly to: Holder
}

/** Two new accounts of which `fits` says yes: accounts are made until there are such two. */
async function pairOf(
  client: LedgerClient,
  name: string,
  fits: (oneShard: number, otherShard: number) => boolean,
): Promise<Pair> {
  const made: { readonly holder: Holder; readonly shardId: number }[] = []
  for (;;) {
    const fresh = Array.from({ length: REGISTERED_AT_ONCE }, async (_, number) => {
      const holder = await client.register(`${name}-${made.length + number}@transfers`)
      const { shard_id: shardId } = await client.read(`/v1/accounts/${holder.accountId}`)
      return { holder, shardId: Number(shardId) }
    })
    made.push(...(await Promise.all(fresh)))
    for (const one of made) {
      const other = made.find(({ holder, shardId }) => holder !== one.holder && fits(one.shardId, shardId))
      if (other !== undefined) return { from: one.holder, to: other.holder }
    }
  }
}

/** Which node has which shard, as PostgreSQL has it, once both have some and none is on its way. */
async function ownersOf({ cluster }: Scene): Promise<ReadonlyMap<number, string>> {
  const sql = postgres(cluster.databaseUrl(), { max: 1, onnotice: () => undefined })
  try {
    return await vi.waitFor(async () => {
      const rows = await sql<{ shard_id: number; session: string }[]>`
        SELECT shard_id, coalesce(session, '') AS session FROM shards`
      const owners = new Map(rows.map((row) => [row.shard_id, row.session]))
      expect([...owners.values()]).not.toContain('')
      expect(new Set(owners.values()).size).toBe(2)
      return owners
    }, 120_000)
  } finally {
    await sql.end()
  }
}

function transfers(scene: GetScene): void {
  const places = [
    { where: 'an account of the other node', name: 'far' },
    { where: 'an account of the same shard', name: 'near' },
  ] as const

  test.for(places)(
    'D5: a transfer to $where completes on both sides: balances, links, metadata, chains and receipts',
    async ({ name }) => {
      const { client, elsewhere } = scene()
      const owners = await ownersOf(scene())
      const { from, to } = await pairOf(client, name, (one, other) =>
        name === 'near' ? one === other : owners.get(one) !== owners.get(other),
      )
      await moved(client, from, { type: 'credit', amount: '100' })
      const metadata = { invoice: '2041', note: 'für Ärzte “e”' }
      const order = { type: 'transfer', amount: '30.5', to_account_id: to.accountId, metadata }
      const receipt = await accepted(client, from, order)
      expect(receipt).toMatchObject({ status: 'pending', group_id: expect.stringMatching(UUID) })
      const txnId = textOf(receipt, 'txn_id')
      const groupId = textOf(receipt, 'group_id')
      const reply = await elsewhere.get(`/v1/transactions/${txnId}`, WAITING)
      expect(reply.headers['preference-applied']).toBe('wait=30')
      const transfer = membersOf(reply)
      expect(transfer).toMatchObject({
        ...order,
        account_id: from.accountId,
        status: 'completed',
        token_id: 'BASE',
        group_id: groupId,
        origin: 'client',
        audit_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      })
      const group = await client.read(`/v1/transactions/group/${groupId}`)
      const legs = group['transactions'] as readonly Members[]
      expect(legs).toHaveLength(2)
      const credit = legs.find(({ txn_id: id }) => id !== txnId) ?? {}
      expect(await client.read(`/v1/transactions/${textOf(credit, 'txn_id')}`)).toMatchObject({
        account_id: to.accountId,
        type: 'credit',
        amount: '30.5',
        status: 'completed',
        from_account_id: from.accountId,
        group_id: groupId,
        origin: 'ledger',
        metadata,
      })
      expect(await holdingOf(client, from.accountId)).toEqual(free('69.5'))
      expect(await holdingOf(client, to.accountId)).toEqual(free('30.5'))
      const checked = await checkOffline(client, [from.accountId, to.accountId])
      expect(checked).toMatchObject({ code: 0 })
      expect(checked.out).not.toContain('TAMPERED')
      expect(checked.txnIds).toHaveLength(3)
      for (const known of checked.txnIds) expect(checked.out).toContain(`ok: receipt of ${known}`)
    },
  )
}

function exchanges(scene: GetScene): void {
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
}

function groups(scene: GetScene): void {
  test('D10: with all legs in it settles; a credit is incoming until then and cannot be spent, and can be when that is seen', async () => {
    const { client, elsewhere } = scene()
    const [from, to] = [await funded(client, 'payer@groups', '10'), await client.register('payee@groups')]
    const agreement = await agreed(client, agreementOn(payment(from, to, '7.50')))
    const { groupId } = agreement
    // The amount by another spelling: it compares by value.
    const credit = await moved(client, to, { ...legFields(agreement, 1), amount: '7.5' })
    expect(credit).toMatchObject({ group_id: groupId, audit_hash: expect.stringMatching(/^sha256:/) })
    expect(await holdingOf(client, to.accountId)).toEqual({ balance: '0', available: '0', incoming: '7.5' })
    const early = await submitted(client, to, { type: 'debit', amount: '0.01' })
    expect(early).toMatchObject({ status: 'failed', failure: { code: 'insufficient_funds' } })
    const half = await groupOf(elsewhere, groupId)
    expect(half).toMatchObject({ status: 'open', finished_at: null })
    expect(legStatuses(half)).toEqual(['expected', 'completed'])
    const debit = await moved(elsewhere, from, legFields(agreement, 0))
    const group = await finalGroup(elsewhere, agreement)
    // Said when the value can be spent: right then it is, at once.
    const spent = await client.submit(to, keyed({ type: 'debit', amount: '7.5' }))
    expect(await client.read(`/v1/transactions/${textOf(membersOf(spent), 'txn_id')}`)).toMatchObject({
      status: 'completed',
    })
    expect(group).toMatchObject({ status: 'settled', finished_at: expect.any(String), compensations: [] })
    expect(group['legs']).toEqual([
      { ...agreement.legs[0], leg_status: 'completed', txn_id: debit['txn_id'] },
      { ...agreement.legs[1], leg_status: 'completed', txn_id: credit['txn_id'] },
    ])
    expect(await holdingOf(client, from.accountId)).toEqual(free('2.5'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('0'))
    const { transactions } = await client.read(`/v1/transactions/group/${groupId}`)
    expect(transactions).toHaveLength(2)
    const checked = await checkOffline(client, [from.accountId, to.accountId])
    expect(checked).toMatchObject({ code: 0 })
    expect(outcomeOf(await revertGroup(client, groupId))).toBe('409 ERR_CONFLICT')
    expect(outcomeOf(await client.submit(from, keyed(legFields(agreement, 0))))).toBe('409 ERR_CONFLICT')
    expect(await groupOf(client, groupId)).toEqual(group)
  })
}

function declines(scene: GetScene): void {
  test('the account lists the expected legs, declines them, and closes without the other client’s consent', async () => {
    const { client, stranger, admin } = scene()
    const attacker = await stranger.register(`pestering-${randomUUID()}`)
    const victim = await client.register(`pestered-${randomUUID()}`)
    const [declined, left] = [
      await agreed(stranger, agreementOn(payment(attacker, victim, '7'), 86_400)),
      await agreed(stranger, agreementOn(payment(attacker, victim, '8'), 86_400)),
    ]
    const path = `/v1/accounts/${victim.accountId}/expectations`
    const expected = membersOf(await client.get(path))['expectations'] as readonly Members[]
    expect(new Set(expected.map((one) => one['group_id']))).toEqual(new Set([declined.groupId, left.groupId]))
    expect(expected.map((one) => textOf(one['terms'] as Members, 'amount')).toSorted()).toEqual(['7', '8'])
    const { groupId, termsHash } = declined
    const named = { account_id: victim.accountId, group_id: groupId, terms_hash: termsHash }
    const body = signed(named, victim.keys.privateKey)
    const forged = signed(named, attacker.keys.privateKey)
    const decline = `/v1/settlement-groups/${declined.groupId}/decline`
    expect(outcomeOf(await stranger.post(decline, forged))).toBe('403 ERR_SIGNATURE_MISMATCH')
    expect((await client.post(decline, body)).status).toBe(202)
    expect(await finalGroup(stranger, declined)).toMatchObject({ status: 'reverted' })
    const close = { status: 'closed', reason: 'no signed legs' }
    expect((await admin.post(`/v1/accounts/${victim.accountId}/status`, close)).status).toBe(200)
    expect(await finalGroup(stranger, left)).toMatchObject({ status: 'reverted' })
  })
}

/** They wait, all of these at once. */
function expiries(scene: GetScene): void {
  test.concurrent('two exchanges that would both match one offer: it is taken once, the other expires and gets its own back', async () => {
    const { client, elsewhere } = scene()
    const traders = await tradersOf(client, 'twice')
    const { alice, bob, gold, silver } = traders
    const { given, mirror } = offers(traders)
    const expiry = { expires_at: inMs(EXPIRY_MS) }
    const receipts = await Promise.all([
      accepted(client, bob, { ...mirror, ...expiry }),
      accepted(elsewhere, bob, { ...mirror, ...expiry }),
      accepted(client, alice, given),
    ])
    const details = await Promise.all(receipts.map((receipt) => ended(client, receipt)))
    expect(details.map(({ status }) => String(status)).sort()).toEqual(['completed', 'completed', 'failed'])
    expect(details[2]).toMatchObject({ status: 'completed' })
    expect(await holdingOf(client, alice.accountId, gold)).toEqual(free('99'))
    expect(await holdingOf(client, alice.accountId, silver)).toEqual(free('25'))
    expect(await holdingOf(client, bob.accountId, gold)).toEqual(free('1'))
    expect(await holdingOf(client, bob.accountId, silver)).toEqual(free('75'))
  })

  test.concurrent('D5: a third party cannot take the place of the one who is named', async () => {
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

  test.concurrent('D5: one side alone, and sides that are no mirror of each other, expire: nothing moved, nothing stays reserved', async () => {
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
}

function timeouts(scene: GetScene): void {
  test.concurrent('D10: when its time is over, completed legs are compensated, each by a transaction of its own, and the rest cancelled', async () => {
    const { client, elsewhere } = scene()
    const [from, to] = [await funded(client, 'late@reverts', '10'), await client.register('late-to@reverts')]
    const [giver, taker] = [await funded(client, 'giver@reverts', '3'), await client.register('taker@reverts')]
    const legs = [
      ...payment(from, to, '6'),
      { account_id: giver.accountId, type: 'transfer', amount: '3', to_account_id: taker.accountId },
      ...payment(from, to, '1'),
    ]
    const agreement = await agreed(client, agreementOn(legs, TIMEOUT_S))
    const debit = await moved(client, from, legFields(agreement, 0))
    const credit = await moved(elsewhere, to, legFields(agreement, 1))
    const transfer = await moved(client, giver, legFields(agreement, 2))
    expect(await holdingOf(client, from.accountId)).toEqual(free('4'))
    const group = await finalGroup(elsewhere, agreement)
    expect(group).toMatchObject({ status: 'reverted', partial_failures: [], finished_at: expect.any(String) })
    expect(Date.parse(textOf(group, 'finished_at'))).toBeGreaterThanOrEqual(Date.parse(textOf(group, 'due_at')))
    expect(legStatuses(group)).toEqual(['compensated', 'compensated', 'compensated', 'expected', 'expected'])
    const compensations = compensationsOf(group)
    // The transfer has two sides: what it had brought its receiver is taken back by a debit there.
    expect(compensations.size).toBe(4)
    for (const [leg, type] of [
      [debit, 'credit'],
      [credit, 'debit'],
      [transfer, 'credit'],
    ] as const) {
      const txnId = textOf(leg, 'txn_id')
      const undone = await client.read(`/v1/transactions/${txnId}`)
      expect(undone).toMatchObject({ status: 'completed', compensated_by: compensations.get(txnId) })
      expect(await client.read(`/v1/transactions/${compensations.get(txnId) ?? ''}`)).toMatchObject({
        type,
        amount: leg['amount'],
        account_id: leg['account_id'],
        group_id: agreement.groupId,
        compensates: txnId,
        origin: 'ledger',
        status: 'completed',
      })
    }
    expect(await holdingOf(client, from.accountId)).toEqual(free('10'))
    expect(await holdingOf(client, giver.accountId)).toEqual(free('3'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('0'))
    expect(await holdingOf(client, taker.accountId)).toEqual(free('0'))
    // A leg after the end is none, and an end is one.
    expect(outcomeOf(await client.submit(from, keyed(legFields(agreement, 3))))).toBe('409 ERR_CONFLICT')
    expect(await groupOf(client, agreement.groupId)).toEqual(group)
    // The returned value can be spent.
    await moved(client, from, { type: 'debit', amount: '10' })
    const checked = await checkOffline(
      client,
      [from, to, giver, taker].map(({ accountId }) => accountId),
    )
    expect(checked).toMatchObject({ code: 0 })
  })
}
