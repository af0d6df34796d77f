/** Goal: what is sent at once, to both edges, over two nodes, takes effect as if one came after the other (I3, I4, I9, D1, D7). */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type LedgerClient, membersOf, textOf } from '../support/client.ts'
import {
  agreed,
  agreementOn,
  finalGroup,
  groupOf,
  legFields,
  payment,
  registerGroup,
  revertGroup,
} from '../support/client-groups.ts'
import { type Members, signed } from '../support/client-keys.ts'
import {
  accepted,
  ended,
  free,
  funded,
  holdingOf,
  issued,
  keyed,
  moved,
  outcomeOf,
  registerToken,
  WAITING,
} from '../support/client-moves.ts'
import { classOf, mint, ownedBy, registerClass } from '../support/client-nfts.ts'
import type { GetScene } from './scene.ts'
import { offers, tradersOf } from './traders.ts'

const CONFLICT = '409 ERR_CONFLICT'

export function concurrentMovesSuite(scene: GetScene): void {
  describe('at once', () => {
    supplies(scene)
    transfers(scene)
    exchanges(scene)
    registrations(scene)
    legs(scene)
    mints(scene)
  })
}

function supplies(scene: GetScene): void {
  test('D1: of ten concurrent registrations of one symbol one is 201 and nine are 409, and one supply is credited', async () => {
    const { client, elsewhere } = scene()
    const issuers = Array.from({ length: 10 }, (_, number) => `rival-${number}@tokens`)
    const replies = await Promise.all(
      issuers.map((issuer, number) =>
        registerToken(number % 2 === 0 ? client : elsewhere, {
          symbol: number % 3 === 0 ? 'CONTESTED' : 'Contested',
          issuer,
          total_supply: `${number + 1}`,
        }),
      ),
    )
    const outcomes = replies.map(outcomeOf).sort()
    expect(outcomes).toEqual(['201', ...Array.from({ length: 9 }, () => '409 ERR_CONFLICT')])
    const winner = replies.findIndex(({ status }) => status === 201)
    const { token_id: tokenId } = membersOf(replies[winner] ?? { status: 0, headers: {}, body: '{}' })
    const held = await Promise.all(issuers.map((issuer) => holdingOf(client, issuer, String(tokenId))))
    expect(held.map(({ balance }) => balance)).toEqual(
      issuers.map((_, number) => (number === winner ? `${winner + 1}` : '0')),
    )
  })

  test('D7: a registration repeated under its Idempotency-Key gets the same body, whatever has become of the token', async () => {
    const { client, elsewhere, stranger } = scene()
    const issuer = await client.register('repeated@tokens')
    const token = { symbol: 'REPEATED', issuer: issuer.accountId, total_supply: '50' }
    const key = { 'idempotency-key': 'registration of REPEATED' }
    const concurrent = await Promise.all(
      Array.from({ length: 6 }, (_, number) => registerToken(number % 2 === 0 ? client : elsewhere, token, key)),
    )
    expect(concurrent.map(({ status }) => status)).toEqual(concurrent.map(() => 201))
    expect(new Set(concurrent.map(({ body }) => body)).size).toBe(1)
    await moved(client, issuer, { type: 'mint', amount: '25', token_id: 'REPEATED' })
    const again = await registerToken(elsewhere, token, key)
    expect([again.status, again.body, again.headers['idempotency-replayed']]).toEqual([
      201,
      concurrent[0]?.body,
      'true',
    ])
    expect(outcomeOf(await registerToken(client, token))).toBe('409 ERR_CONFLICT')
    expect(outcomeOf(await registerToken(stranger, token, key))).toBe('409 ERR_CONFLICT')
    expect(await holdingOf(client, issuer.accountId, 'REPEATED')).toEqual(free('75'))
  })

  test('I4: concurrent mints and burns add up in the supply and in the balances', async () => {
    const { client, elsewhere } = scene()
    const issuer = await client.register('busy@tokens')
    await issued(client, 'BUSY', issuer, '100')
    const receipts = await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        accepted(number % 2 === 0 ? client : elsewhere, issuer, {
          type: number % 4 === 0 ? 'burn' : 'mint',
          amount: `${number + 1}`,
          token_id: 'BUSY',
        }),
      ),
    )
    const details = await Promise.all(receipts.map((receipt) => ended(client, receipt)))
    expect(details.map(({ status }) => status)).toEqual(details.map(() => 'completed'))
    // 1 + ... + 20 = 210, of which 1 + 5 + 9 + 13 + 17 = 45 were burnt: 100 + 165 - 45.
    expect(await holdingOf(client, issuer.accountId, 'BUSY')).toEqual(free('220'))
    expect(await client.read('/v1/fungible-tokens/BUSY')).toMatchObject({ total_supply: '220' })
  })
}

function transfers(scene: GetScene): void {
  test('I4, I5: transfers that cross each other, more than there is, move what there is and lose nothing', async () => {
    const { client, elsewhere } = scene()
    const left = await funded(client, 'left@transfers', '50')
    const right = await funded(client, 'right@transfers', '50')
    const receipts = await Promise.all(
      Array.from({ length: 60 }, (_, number) => {
        const [from, to] = number % 2 === 0 ? [left, right] : [right, left]
        const order = { type: 'transfer', amount: '20', to_account_id: to.accountId }
        return accepted(number % 3 === 0 ? client : elsewhere, from, order)
      }),
    )
    const details = await Promise.all(receipts.map((receipt) => ended(client, receipt)))
    const net = details
      .filter(({ status }) => status === 'completed')
      .reduce((sum, { account_id: accountId }) => sum + (accountId === left.accountId ? 20 : -20), 0)
    const failures = details.filter(({ status }) => status === 'failed').map(({ failure }) => failure)
    expect(failures).toEqual(failures.map(() => expect.objectContaining({ code: 'insufficient_funds' })))
    expect(await holdingOf(client, left.accountId)).toEqual(free(`${50 - net}`))
    expect(await holdingOf(client, right.accountId)).toEqual(free(`${50 + net}`))
  })

  test('D7: a transfer repeated while pending and after its end gets the same 202, and moves once', async () => {
    const { client, elsewhere } = scene()
    const from = await funded(client, 'repeated@transfers', '10')
    const to = await client.register('repeated-to@transfers')
    const fields = keyed({ account_id: from.accountId, type: 'transfer', amount: '6', to_account_id: to.accountId })
    const submit = (edge: LedgerClient) => edge.post('/v1/transactions', signed(fields, from.keys.privateKey))
    const first = await Promise.all([submit(client), submit(elsewhere), submit(client), submit(elsewhere)])
    const detail = await ended(client, membersOf(first[0]))
    expect(detail['status']).toBe('completed')
    const replies = [...first, await submit(client), await submit(elsewhere)]
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 202))
    expect(new Set(replies.map(({ body }) => body)).size).toBe(1)
    expect(replies.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(5)
    expect(membersOf(replies[5] ?? first[0])).toMatchObject({ status: 'pending', group_id: detail['group_id'] })
    expect(await holdingOf(client, from.accountId)).toEqual(free('4'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('6'))
  })

  test('everything that an account has, sent to twenty at once in three ways, is spent once', async () => {
    const { client, elsewhere } = scene()
    const spender = await funded(client, 'spender@attacks', '10')
    const receivers = await Promise.all(
      Array.from({ length: 20 }, (_, number) => client.register(`receiver-${number}@attacks`)),
    )
    const groupId = agreementOn([]).groupId
    const receipts = await Promise.all(
      receivers.map(({ accountId }, number) => {
        const orders = [
          { type: 'transfer', to_account_id: accountId },
          { type: 'debit' },
          { type: 'transfer', to_account_id: accountId, group_id: groupId },
        ]
        return accepted(number % 2 === 0 ? client : elsewhere, spender, { amount: '10', ...orders[number % 3] })
      }),
    )
    const details = await Promise.all(receipts.map((receipt) => ended(client, receipt)))
    const completed = details.filter(({ status }) => status === 'completed')
    expect(completed).toHaveLength(1)
    expect(await holdingOf(client, spender.accountId)).toEqual(free('0'))
    const held = await Promise.all(receivers.map(({ accountId }) => holdingOf(client, accountId)))
    const arrived = held.filter(({ balance }) => balance !== '0')
    expect(arrived).toEqual(completed[0]?.['type'] === 'debit' ? [] : [free('10')])
  })
}

function exchanges(scene: GetScene): void {
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
}

function registrations(scene: GetScene): void {
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

function legs(scene: GetScene): void {
  test('a leg submitted twice under two keys: the second is 409; two equal legs are each taken once', async () => {
    const { client, elsewhere } = scene()
    const [from, to] = [await funded(client, 'doubled@deals', '10'), await client.register('doubled-to@deals')]
    const agreement = agreementOn(payment(from, to, '5'), 3600)
    await agreed(client, agreement)
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, number) =>
        (number % 2 === 0 ? client : elsewhere).submit(from, keyed(legFields(agreement, 0))),
      ),
    )
    expect(replies.map(outcomeOf).sort()).toEqual(['202', ...Array.from({ length: 5 }, () => CONFLICT)])
    expect(await holdingOf(client, from.accountId)).toEqual(free('5'))
    await moved(client, to, legFields(agreement, 1))
    expect(await finalGroup(client, agreement)).toMatchObject({ status: 'settled' })
    const twice = agreementOn([...payment(from, to, '2'), ...payment(from, to, '2')], 3600)
    await agreed(client, twice)
    for (const [holder, index] of [
      [from, 0],
      [to, 1],
    ] as const) {
      const each = await Promise.all([1, 2, 3].map(() => client.submit(holder, keyed(legFields(twice, index)))))
      expect(each.map(outcomeOf).sort()).toEqual(['202', '202', CONFLICT])
    }
    expect(await finalGroup(client, twice)).toMatchObject({ status: 'settled' })
    expect(await holdingOf(client, from.accountId)).toEqual(free('1'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('9'))
  })

  test('D10: a leg and a revert at the same time: the group ends in one way, and the balances agree with it', async () => {
    const { client, elsewhere } = scene()
    const [from, to] = [await funded(client, 'race@reverts', '40'), await client.register('race-to@reverts')]
    const agreements = await Promise.all(
      Array.from({ length: 8 }, () => agreed(client, agreementOn(payment(from, to, '5'), 3600))),
    )
    await Promise.all(agreements.map((agreement) => moved(client, from, legFields(agreement, 0))))
    const ends = await Promise.all(
      agreements.map(async (agreement) => {
        const [, revert] = await Promise.all([
          client.submit(to, keyed(legFields(agreement, 1))),
          revertGroup(elsewhere, agreement.groupId),
        ])
        const { status } = await finalGroup(client, agreement)
        return `${String(status)} ${revert.status}`
      }),
    )
    // Who asked for the revert was told how it would end.
    const settled = ends.filter((end) => end === 'settled 409').length
    expect(ends.filter((end) => end === 'reverted 202')).toHaveLength(ends.length - settled)
    expect(await holdingOf(client, to.accountId)).toEqual(free(`${5 * settled}`))
    expect(await holdingOf(client, from.accountId)).toEqual(free(`${40 - 5 * settled}`))
  })
}

function mints(scene: GetScene): void {
  test('D1: a name is taken in every case and composition; of ten at once one is 201', async () => {
    const { client, elsewhere } = scene()
    const issuer = await client.register('names@nfts')
    await classOf(client, 'Caf\u00e9 Stra\u00dfe', issuer)
    for (const name of ['CAF\u00c9 STRASSE', 'cafe\u0301 stra\u00dfe']) {
      expect(outcomeOf(await registerClass(elsewhere, { name, issuer: issuer.accountId }))).toBe('409 ERR_CONFLICT')
    }
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, number) =>
        registerClass(number % 2 === 0 ? client : elsewhere, { name: 'Contested', issuer: `rival-${number}@nfts` }),
      ),
    )
    expect(replies.map(outcomeOf).sort()).toEqual(['201', ...Array.from({ length: 9 }, () => '409 ERR_CONFLICT')])
  })

  test('I9: of ten mints of one instance at once, one is 201 and nine are 409', async () => {
    const { client, elsewhere } = scene()
    const issuer = await client.register('race@mints')
    const classId = await classOf(client, 'Race', issuer)
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, number) =>
        mint(number % 2 === 0 ? client : elsewhere, issuer, classId, { instance_id: 'only' }),
      ),
    )
    expect(replies.map(outcomeOf).sort()).toEqual(['201', ...Array.from({ length: 9 }, () => '409 ERR_CONFLICT')])
    expect(await ownedBy(client, issuer)).toEqual(['only'])
    expect(await client.read(`/v1/transactions?account_id=${issuer.accountId}`)).toMatchObject({ total_count: 1 })
  })

  test('D7: forty mints under one key at once are one: forty equal bodies, one of them no replay', async () => {
    const { client, elsewhere } = scene()
    const issuer = await client.register('repeat@mints')
    const classId = await classOf(client, 'Repeats', issuer)
    const fields = { instance_id: 'once', idempotency_key: 'the very same' }
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, number) => mint(number % 2 === 0 ? client : elsewhere, issuer, classId, fields)),
    )
    expect(new Set(replies.map(({ status, body }) => `${status} ${body}`)).size).toBe(1)
    expect(replies[0]?.status).toBe(201)
    expect(replies.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1)
    const other = await mint(client, issuer, classId, { ...fields, metadata: { colour: 7 } })
    expect([other.status, other.body]).toEqual([201, replies[0]?.body])
    expect(other.headers['idempotency-payload-mismatch']).toBe('true')
    // Transactions have keys of their own.
    await moved(client, issuer, { type: 'credit', amount: '1', idempotency_key: 'the very same' })
  })
}
