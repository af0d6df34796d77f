/** Goal: a registered group settles when all its legs are in, as agreed, and what it brought can be spent then (D10). */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { membersOf, textOf } from '../support/client.ts'
import {
  agreed,
  agreementOn,
  finalGroup,
  groupOf,
  legFields,
  legStatuses,
  payment,
  registerGroup,
  revertGroup,
  termsHashOf,
} from '../support/client-groups.ts'
import type { Members } from '../support/client-keys.ts'
import {
  changeStatus,
  ended,
  fieldsOf,
  free,
  funded,
  holdingOf,
  issued,
  keyed,
  moved,
  outcomeOf,
  submitted,
  WAITING,
} from '../support/client-moves.ts'
import { checkOffline } from './offline-check.ts'
import type { GetScene } from './scene.ts'

export function groupsSuite(scene: GetScene): void {
  describe('settlement groups', () => {
    registrations(scene)
    refusals(scene)
    settlements(scene)
  })
}

function registrations(scene: GetScene): void {
  test('D10: a registration is 201 with the hash of its terms; the same again 200, other terms or another client 409', async () => {
    const { client, elsewhere, stranger, admin } = scene()
    const [from, to] = [await client.register('agreed@groups'), await client.register('agreed-to@groups')]
    const agreement = agreementOn(payment(from, to, '5.50'), 120, randomUUID().toUpperCase())
    const { groupId, termsHash, body } = agreement
    const reply = await registerGroup(client, agreement)
    expect([reply.status, reply.headers.location]).toEqual([201, `/v1/settlement-groups/${groupId}`])
    const group = membersOf(reply)
    expect(group).toMatchObject({
      group_id: groupId,
      status: 'open',
      terms_hash: termsHash,
      expected_legs: 2,
      compensations: [],
      partial_failures: [],
      finished_at: null,
    })
    expect(group['legs']).toEqual(agreement.legs.map((leg) => ({ ...leg, leg_status: 'expected' })))
    const created = Date.parse(textOf(group, 'created_at'))
    expect(Date.parse(textOf(group, 'due_at')) - created).toBe(120_000)
    expect(await groupOf(elsewhere, groupId.toUpperCase())).toEqual(group)
    const again = await registerGroup(elsewhere, agreement)
    expect([again.status, membersOf(again)]).toEqual([200, group])
    const others = [
      { ...body, timeout_seconds: 121 },
      { ...body, legs: payment(from, to, '5.5') },
      { ...body, legs: agreement.legs.toReversed() },
    ]
    for (const other of others) {
      expect(outcomeOf(await client.post('/v1/settlement-groups', other))).toBe('409 ERR_CONFLICT')
    }
    expect(outcomeOf(await registerGroup(stranger, agreement))).toBe('409 ERR_CONFLICT')
    expect(await groupOf(client, groupId)).toEqual(group)
    expect((await revertGroup(admin, groupId)).status).toBe(202)
    expect(await finalGroup(client, agreement)).toMatchObject({ status: 'reverted' })
  })

  test('D10: of concurrent registrations under one ID with different terms one is 201, and only its terms count', async () => {
    const { client, elsewhere, stranger, admin } = scene()
    const [from, to] = [await client.register('rivals@groups'), await client.register('rivals-to@groups')]
    const groupId = randomUUID()
    const rivals = Array.from({ length: 6 }, (_, number) =>
      agreementOn(payment(from, to, `${number + 1}`), 60, groupId),
    )
    const parties = [client, elsewhere, stranger]
    const replies = await Promise.all(
      rivals.map((agreement, number) => registerGroup(parties[number % 3] ?? client, agreement)),
    )
    expect(replies.map(outcomeOf).sort()).toEqual(['201', ...Array.from({ length: 5 }, () => '409 ERR_CONFLICT')])
    const winner = rivals[replies.findIndex(({ status }) => status === 201)]
    expect(await groupOf(client, groupId)).toMatchObject({ status: 'open', terms_hash: winner?.termsHash })
    expect((await revertGroup(admin, groupId)).status).toBe(202)
  })

  test('D10: concurrent registrations of the same terms by one client are one group, whoever of them was first', async () => {
    const { client, elsewhere } = scene()
    const [from, to] = [await client.register('same@groups'), await client.register('same-to@groups')]
    const agreement = agreementOn(payment(from, to, '1'))
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, number) => registerGroup(number % 2 === 0 ? client : elsewhere, agreement)),
    )
    expect(new Set(replies.map(({ body }) => body)).size).toBe(1)
    // Those that came before it was open were told of it together with the first.
    const outcomes = replies.map(outcomeOf)
    expect(outcomes).toContain('201')
    expect(['200', '201']).toEqual(expect.arrayContaining(outcomes))
    await revertGroup(client, agreement.groupId)
    await finalGroup(client, agreement)
  })

  test('D10: without an ID the service chooses one, without a time it is 900 s: the hash is over both', async () => {
    const { client } = scene()
    const [from, to] = [await client.register('chosen@groups'), await client.register('chosen-to@groups')]
    const legs = payment(from, to, '1')
    const reply = await client.post('/v1/settlement-groups', { legs })
    expect(reply.status).toBe(201)
    const group = membersOf(reply)
    const groupId = textOf(group, 'group_id')
    expect(group['terms_hash']).toBe(termsHashOf(groupId, legs, 900))
    const other = await client.post('/v1/settlement-groups', { legs })
    expect(membersOf(other)['group_id']).not.toBe(groupId)
    for (const id of [groupId, textOf(membersOf(other), 'group_id')]) {
      expect((await revertGroup(client, id)).status).toBe(202)
    }
  })

  test('D7: a registration repeated under its Idempotency-Key gets the original answer, ID included', async () => {
    const { client, elsewhere } = scene()
    const [from, to] = [await client.register('repeated@groups'), await client.register('repeated-to@groups')]
    const body = { legs: payment(from, to, '1'), timeout_seconds: 60 }
    const key = { 'idempotency-key': 'registration of a group' }
    const replies = await Promise.all(
      [client, elsewhere, client, elsewhere].map((edge) => edge.post('/v1/settlement-groups', body, key)),
    )
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(new Set(replies.map((reply) => reply.body)).size).toBe(1)
    const groupId = textOf(JSON.parse(replies[0]?.body ?? '{}') as Members, 'group_id')
    expect((await revertGroup(client, groupId)).status).toBe(202)
    await client.read(`/v1/settlement-groups/${groupId}`, WAITING)
    const late = await elsewhere.post('/v1/settlement-groups', body, key)
    expect([late.status, late.body, late.headers['idempotency-replayed']]).toEqual([201, replies[0]?.body, 'true'])
  })
}

function refusals(scene: GetScene): void {
  test('D10: legs that do not net to zero, or are none, are 400 with the field of each', async () => {
    const { client } = scene()
    const [from, to] = [await client.register('unbalanced@groups'), await client.register('unbalanced-to@groups')]
    const [debit = {}, credit = {}] = payment(from, to, '5')
    const cases: readonly (readonly [string, Members, readonly string[]])[] = [
      ['other amounts', { legs: [debit, { ...credit, amount: '4.99' }] }, ['legs']],
      ['two debits', { legs: [debit, { ...debit, account_id: to.accountId }] }, ['legs']],
      ['one leg', { legs: [debit] }, ['legs']],
      ['65 legs', { legs: Array.from({ length: 65 }, () => debit) }, ['legs']],
      ['no legs', {}, ['legs']],
      ['a number as amount', { legs: [{ ...debit, amount: 5 }, credit] }, ['legs[0].amount']],
      ['an unknown type', { legs: [debit, { ...credit, type: 'gift' }] }, ['legs[1].type']],
      ['an ill-formed account', { legs: [debit, { ...credit, account_id: 'a b' }] }, ['legs[1].account_id']],
      ['a time of nothing', { legs: [debit, credit], timeout_seconds: 0 }, ['timeout_seconds']],
      ['a time beyond a day', { legs: [debit, credit], timeout_seconds: 86_401 }, ['timeout_seconds']],
      ['no UUID', { legs: [debit, credit], group_id: 'mine' }, ['group_id']],
    ]
    for (const [what, body, fields] of cases) {
      const reply = await client.post('/v1/settlement-groups', body)
      expect([what, reply.status, fieldsOf(reply)]).toEqual([what, 400, fields])
    }
  })

  test('D10: an account that refuses makes the registration a 4xx, and nothing of it stays with the others', async () => {
    const { client, admin } = scene()
    const [willing, refusing] = [await client.register('willing@groups'), await client.register('refusing@groups')]
    const closed = await client.register('closed@groups')
    await changeStatus(admin, refusing, { incoming: 'refuse' })
    await changeStatus(admin, closed, { status: 'closed' })
    const nobody = { accountId: 'nobody@groups', keys: willing.keys }
    const groupId = randomUUID()
    const cases = [
      [payment(willing, refusing, '5'), '409 ERR_CONFLICT'],
      [payment(willing, closed, '5'), '409 ERR_CONFLICT'],
      [payment(willing, nobody, '5'), '404 ERR_NOT_FOUND'],
      [payment(willing, refusing, '5', 'NO-SUCH'), '404 ERR_NOT_FOUND'],
    ] as const
    for (const [legs, outcome] of cases) {
      expect(outcomeOf(await registerGroup(client, agreementOn(legs, 60, groupId)))).toBe(outcome)
      expect((await client.get(`/v1/settlement-groups/${groupId}`)).status).toBe(404)
    }
    // An account with an expectation could not be closed; and the ID is as free as before.
    const other = await client.register('other@groups')
    const agreement = await agreed(client, agreementOn(payment(willing, other, '5'), 60, groupId))
    expect(outcomeOf(await changeStatus(admin, willing, { status: 'closed' }))).toBe('409 ERR_CONFLICT')
    expect((await revertGroup(client, groupId)).status).toBe(202)
    await finalGroup(client, agreement)
    expect((await changeStatus(admin, willing, { status: 'closed' })).status).toBe(200)
  })
}

function settlements(scene: GetScene): void {
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

  test('D10: transfer legs stand for both sides: what arrives is incoming until all of it settles', async () => {
    const { client, elsewhere } = scene()
    const [alice, bob] = [await client.register('alice@groups'), await client.register('bob@groups')]
    await issued(client, 'TICKET', alice, '3')
    await moved(client, bob, { type: 'credit', amount: '50' })
    const legs = [
      { account_id: alice.accountId, type: 'transfer', amount: '2', token_id: 'TICKET', to_account_id: bob.accountId },
      { account_id: bob.accountId, type: 'transfer', amount: '40', to_account_id: alice.accountId },
    ]
    const agreement = await agreed(client, agreementOn(legs))
    const metadata = { seat: '12F' }
    const first = await moved(client, alice, { ...legFields(agreement, 0), metadata })
    expect(await holdingOf(client, alice.accountId, 'TICKET')).toEqual(free('1'))
    await moved(elsewhere, bob, legFields(agreement, 1))
    expect(await finalGroup(client, agreement)).toMatchObject({ status: 'settled', expected_legs: 2 })
    expect(await holdingOf(client, bob.accountId, 'TICKET')).toEqual(free('2'))
    expect(await holdingOf(client, alice.accountId)).toEqual(free('40'))
    expect(await holdingOf(client, bob.accountId)).toEqual(free('10'))
    const { transactions } = await client.read(`/v1/transactions/group/${agreement.groupId}`)
    const sides = transactions as readonly Members[]
    expect(sides).toHaveLength(4)
    const arrival = sides.find((one) => one['type'] === 'credit' && one['account_id'] === bob.accountId) ?? {}
    expect(await ended(client, arrival)).toMatchObject({
      status: 'completed',
      amount: '2',
      from_account_id: alice.accountId,
      group_id: first['group_id'],
      metadata,
      origin: 'ledger',
    })
  })

  test('D10: mint and burn legs take effect when the group settles, in the supply too', async () => {
    const { client } = scene()
    const [issuer, holder] = [await client.register('mint@groups'), await funded(client, 'burn@groups', '10')]
    await issued(client, 'NEW', issuer, '0')
    await issued(client, 'OLD', holder, '20')
    const legs = [
      { account_id: issuer.accountId, type: 'mint', amount: '8', token_id: 'NEW' },
      { account_id: holder.accountId, type: 'burn', amount: '15', token_id: 'OLD' },
    ]
    const agreement = await agreed(client, agreementOn(legs))
    await moved(client, holder, legFields(agreement, 1))
    expect(await holdingOf(client, holder.accountId, 'OLD')).toEqual({ balance: '20', available: '5', incoming: '0' })
    expect(await client.read('/v1/fungible-tokens/OLD')).toMatchObject({ total_supply: '20' })
    await moved(client, issuer, legFields(agreement, 0))
    expect(await finalGroup(client, agreement)).toMatchObject({ status: 'settled' })
    expect(await holdingOf(client, holder.accountId, 'OLD')).toEqual(free('5'))
    expect(await holdingOf(client, issuer.accountId, 'NEW')).toEqual(free('8'))
    expect(await client.read('/v1/fungible-tokens/OLD')).toMatchObject({ total_supply: '5' })
    expect(await client.read('/v1/fungible-tokens/NEW')).toMatchObject({ total_supply: '8' })
  })

  test('D10: legs at the boundary are exempt from netting where the client has the grant', async () => {
    const { client } = scene()
    const [inside, buyer] = [await client.register('inside@groups'), await funded(client, 'buyer@groups', '9')]
    const legs = [
      { account_id: inside.accountId, type: 'credit', amount: '5', boundary: true },
      { account_id: buyer.accountId, type: 'debit', amount: '9', boundary: true },
    ]
    const agreement = await agreed(client, agreementOn(legs))
    await moved(client, inside, legFields(agreement, 0))
    await moved(client, buyer, legFields(agreement, 1))
    expect(await finalGroup(client, agreement)).toMatchObject({ status: 'settled' })
    expect(await holdingOf(client, inside.accountId)).toEqual(free('5'))
    expect(await holdingOf(client, buyer.accountId)).toEqual(free('0'))
  })
}
