/** Goal: no client gets value, or keeps another from its own, by anything that it may send (D2, D5, D7). */
import { describe, expect, test } from 'vitest'
import { type Holder, type HttpReply, LedgerClient, membersOf } from '../support/client.ts'
import { agreed, agreementOn, finalGroup, payment, revertGroup } from '../support/client-groups.ts'
import { canonical, type Members, newAccountKeys, signed } from '../support/client-keys.ts'
import {
  accepted,
  changeStatus,
  ended,
  fieldsOf,
  free,
  funded,
  holdingOf,
  inMs,
  issued,
  keyed,
  moved,
  newKey,
  outcomeOf,
  registerToken,
  submitted,
} from '../support/client-moves.ts'
import type { GetScene } from './scene.ts'
import { offers, tradersOf } from './traders.ts'

/** Long enough for what must come before it, on a busy machine too. */
const EXPIRY_MS = 8000

export function attacksSuite(scene: GetScene): void {
  describe('attacks', () => {
    creation(scene)
    replays(scene)
    spending(scene)
    closing(scene)
    numbers(scene)
  })
}

function creation(scene: GetScene): void {
  test('a boundary credit by a client without the grant is 403 in every asset, and creates nothing', async () => {
    const { client, ungranted } = scene()
    const holder = await ungranted.register('printer@attacks')
    await issued(client, 'PRINTED', holder, '0')
    for (const asset of [{}, { token_id: 'BASE' }, { token_id: 'PRINTED' }]) {
      const credit = keyed({ type: 'credit', amount: '1000', ...asset })
      expect(outcomeOf(await ungranted.submit(holder, credit))).toBe('403 ERR_FORBIDDEN')
      // Nor by calling it the leg of a group that is none.
      const leg = { group_id: agreementOn([]).groupId, terms_hash: `sha256:${'0'.repeat(64)}` }
      expect(outcomeOf(await ungranted.submit(holder, keyed({ ...credit, ...leg })))).toBe('409 ERR_CONFLICT')
    }
    expect(await ungranted.read('/v1/accounts/printer@attacks/balances')).toMatchObject({ balances: [] })
    // The rest of its rights is as it was: what it holds, it moves.
    await moved(client, holder, { type: 'credit', amount: '5' })
    await moved(ungranted, holder, { type: 'debit', amount: '5' })
  })

  test('a keyless issuer claimed by another client than the one that named it is 409, and its supply stays', async () => {
    const { client, stranger, admin } = scene()
    for (const [symbol, issuer] of [
      ['LOOT-A', 'loot-a@attacks'],
      ['LOOT-B', 'loot-b@attacks'],
    ] as const) {
      expect((await registerToken(client, { symbol, issuer, total_supply: '1000' })).status).toBe(201)
    }
    const claim = (party: LedgerClient, accountId: string): Promise<HttpReply> =>
      party.post('/v1/accounts', { account_id: accountId, public_key: newAccountKeys().jwk })
    expect(outcomeOf(await claim(stranger, 'loot-a@attacks'))).toBe('409 ERR_CONFLICT')
    // Naming it as the issuer of a token of one's own makes it nobody's but the first one's.
    const own = { symbol: 'LOOT-C', issuer: 'loot-a@attacks', total_supply: '1' }
    expect((await registerToken(stranger, own)).status).toBe(201)
    expect(outcomeOf(await claim(stranger, 'loot-a@attacks'))).toBe('409 ERR_CONFLICT')
    expect(await client.read('/v1/accounts/loot-a@attacks')).toMatchObject({ public_key: null })
    expect((await claim(client, 'loot-a@attacks')).status).toBe(201)
    expect((await claim(admin, 'loot-b@attacks')).status).toBe(201)
    expect(outcomeOf(await claim(client, 'loot-a@attacks'))).toBe('409 ERR_CONFLICT')
  })

  test('a client that may only read is 403 wherever it would change something', async () => {
    const { client, cluster } = scene()
    const viewer = await LedgerClient.login(cluster.origin, cluster.clients.viewer)
    const [from, to] = [await funded(client, 'viewed@attacks', '5'), await client.register('viewed-to@attacks')]
    const agreement = await agreed(client, agreementOn(payment(from, to, '5')))
    const replies = [
      await viewer.submit(from, keyed({ type: 'transfer', amount: '5', to_account_id: to.accountId })),
      await registerToken(viewer, { symbol: 'VIEWED', issuer: 'viewer@attacks', total_supply: '1' }),
      await viewer.post('/v1/settlement-groups', agreementOn(payment(from, to, '5')).body),
      await revertGroup(viewer, agreement.groupId),
    ]
    viewer.close()
    expect(replies.map(outcomeOf)).toEqual(replies.map(() => '403 ERR_FORBIDDEN'))
    expect(await holdingOf(client, from.accountId)).toEqual(free('5'))
    expect((await revertGroup(client, agreement.groupId)).status).toBe(202)
  })

  test('a mint by a holder who signs for the issuer’s account with a key of his own is 403', async () => {
    const { client, stranger } = scene()
    const issuer = await client.register('minter@attacks')
    await issued(client, 'COUNTERFEIT', issuer, '10')
    const forger = { accountId: issuer.accountId, keys: newAccountKeys() }
    const mint = keyed({ type: 'mint', amount: '90', token_id: 'COUNTERFEIT' })
    expect(outcomeOf(await stranger.submit(forger, mint))).toBe('403 ERR_SIGNATURE_MISMATCH')
    expect(await client.read('/v1/fungible-tokens/COUNTERFEIT')).toMatchObject({ total_supply: '10' })
  })
}

function replays(scene: GetScene): void {
  async function scenery(
    name: string,
  ): Promise<{ readonly from: Holder; readonly to: Holder; readonly body: Members }> {
    const { client } = scene()
    const [from, to] = [await funded(client, `${name}@attacks`, '10'), await client.register(`${name}-to@attacks`)]
    const order = { account_id: from.accountId, type: 'transfer', amount: '4', to_account_id: to.accountId }
    return { from, to, body: signed(keyed(order), from.keys.privateKey) }
  }

  test('a captured submission replayed by another client gets the original answer and moves nothing', async () => {
    const { client, stranger } = scene()
    const { from, to, body } = await scenery('captured')
    const original = await client.post('/v1/transactions', body)
    expect(original.status).toBe(202)
    await ended(client, membersOf(original))
    for (const bytes of [JSON.stringify(body), canonical(body), `  ${JSON.stringify(body, null, 2)}\n`]) {
      const replay = await stranger.post('/v1/transactions', bytes)
      expect([replay.status, replay.body, replay.headers['idempotency-replayed']]).toEqual([202, original.body, 'true'])
    }
    expect(await holdingOf(client, from.accountId)).toEqual(free('6'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('4'))
  })

  test('a captured submission with anything changed, its key above all, is 403', async () => {
    const { client, stranger } = scene()
    const { from, to, body } = await scenery('altered')
    const mallory = await stranger.register('mallory@attacks')
    const original = await client.post('/v1/transactions', body)
    await ended(client, membersOf(original))
    const changes = [{ idempotency_key: newKey() }, { amount: '6' }, { to_account_id: mallory.accountId }]
    for (const change of changes) {
      const replay = await stranger.post('/v1/transactions', { ...body, ...change })
      expect(outcomeOf(replay)).toBe('403 ERR_SIGNATURE_MISMATCH')
    }
    expect(await holdingOf(client, from.accountId)).toEqual(free('6'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('4'))
  })

  test('a captured submission replayed after its account’s key was rotated moves nothing; the old key signs nothing new', async () => {
    const { client, stranger } = scene()
    const { from, to, body } = await scenery('rotated')
    const original = await client.post('/v1/transactions', body)
    await ended(client, membersOf(original))
    const next = newAccountKeys()
    const rotation = { account_id: from.accountId, public_key: next.jwk, idempotency_key: newKey() }
    const rotated = await client.post(`/v1/accounts/${from.accountId}/keys`, signed(rotation, from.keys.privateKey))
    expect(rotated.status).toBe(201)
    const replay = await stranger.post('/v1/transactions', body)
    expect([replay.status, replay.body, replay.headers['idempotency-replayed']]).toEqual([202, original.body, 'true'])
    const order = keyed({ type: 'transfer', amount: '4', to_account_id: to.accountId })
    expect(outcomeOf(await stranger.submit(from, order))).toBe('403 ERR_SIGNATURE_MISMATCH')
    expect(await holdingOf(client, from.accountId)).toEqual(free('6'))
    await moved(client, { ...from, keys: next }, order)
    expect(await holdingOf(client, to.accountId)).toEqual(free('8'))
  })
}

function spending(scene: GetScene): void {
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

  test('two exchanges that would both match one offer: it is taken once, the other expires and gets its own back', async () => {
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

  test('an amount that is reserved for an exchange is spent by nothing else', async () => {
    const { client } = scene()
    const traders = await tradersOf(client, 'reserved')
    const { alice, bob, gold } = traders
    const { given, mirror } = offers(traders)
    const all = { ...given, amount: '100' }
    const offer = await accepted(client, alice, all)
    expect(await holdingOf(client, alice.accountId, gold)).toMatchObject({ balance: '100', available: '0' })
    const asset = { token_id: gold, amount: '0.01' }
    const orders: readonly Members[] = [
      { ...asset, type: 'debit' },
      { ...asset, type: 'burn' },
      { ...asset, type: 'transfer', to_account_id: bob.accountId },
      { ...offers(traders).given, ...asset },
    ]
    for (const order of orders) {
      const detail = await submitted(client, alice, order)
      expect([order, detail]).toMatchObject([order, { status: 'failed', failure: { code: 'insufficient_funds' } }])
    }
    await moved(client, bob, { ...mirror, receive: { token_id: gold, amount: '100' } })
    expect(await ended(client, offer)).toMatchObject({ status: 'completed' })
  })
}

function closing(scene: GetScene): void {
  test('closing an account with a pending exchange, an expected leg, or value incoming is 409 until that has ended', async () => {
    const { client, admin } = scene()
    const close = async (holder: Holder): Promise<string> =>
      outcomeOf(await changeStatus(admin, holder, { status: 'closed' }))
    const traders = await tradersOf(client, 'closing')
    const offer = { ...offers(traders).given, amount: '100', expires_at: inMs(EXPIRY_MS) }
    const pending = await accepted(client, traders.alice, offer)
    const [from, to] = [await funded(client, 'closing@attacks', '7'), await client.register('closing-to@attacks')]
    const agreement = await agreed(client, agreementOn(payment(from, to, '7'), 3600))
    const { groupId, termsHash } = agreement
    const leg = { amount: '7', group_id: groupId, terms_hash: termsHash }
    expect(await close(traders.alice)).toBe('409 ERR_CONFLICT')
    // The one has a balance, the other only an expectation; then neither has a balance, and one has what is incoming.
    expect([await close(from), await close(to)]).toEqual(['409 ERR_CONFLICT', '409 ERR_CONFLICT'])
    await moved(client, from, { ...leg, type: 'debit' })
    expect(await holdingOf(client, from.accountId)).toEqual(free('0'))
    expect([await close(from), await close(to)]).toEqual(['409 ERR_CONFLICT', '409 ERR_CONFLICT'])
    expect((await revertGroup(client, groupId)).status).toBe(202)
    await finalGroup(client, agreement)
    expect(await close(to)).toBe('200')
    expect(await holdingOf(client, from.accountId)).toEqual(free('7'))
    expect(await ended(client, pending)).toMatchObject({ failure: { code: 'exchange_expired' } })
    await moved(client, traders.alice, { type: 'burn', amount: '100', token_id: traders.gold })
    expect(await close(traders.alice)).toBe('200')
  })

  test('closing an account whose incoming credit waits for its group is 409: what settles finds it open', async () => {
    const { client, admin } = scene()
    const [from, to] = [await funded(client, 'inbound@attacks', '7'), await client.register('inbound-to@attacks')]
    const agreement = await agreed(client, agreementOn(payment(from, to, '7'), 3600))
    const leg = { amount: '7', group_id: agreement.groupId, terms_hash: agreement.termsHash }
    await moved(client, to, { ...leg, type: 'credit' })
    expect(await holdingOf(client, to.accountId)).toEqual({ balance: '0', available: '0', incoming: '7' })
    expect(outcomeOf(await changeStatus(admin, to, { status: 'closed' }))).toBe('409 ERR_CONFLICT')
    await moved(client, from, { ...leg, type: 'debit' })
    expect(await finalGroup(client, agreement)).toMatchObject({ status: 'settled' })
    expect(await holdingOf(client, to.accountId)).toEqual(free('7'))
  })
}

/** No positive decimal strings of at most 18+18 digits. */
const NO_AMOUNTS: readonly unknown[] = [
  '-1',
  '-0.5',
  '+1',
  '0',
  '0.0',
  '0.000000000000000000',
  '00',
  '01',
  '1.',
  '.5',
  '1e3',
  '1E3',
  '0x10',
  ' 1',
  '1 ',
  '1\n',
  '1,5',
  '1_000',
  'NaN',
  'Infinity',
  '１',
  '٣',
  '',
  `1${'0'.repeat(18)}`,
  '9'.repeat(40),
  `0.${'0'.repeat(18)}1`,
  `1.${'0'.repeat(19)}`,
  1,
  0.5,
  true,
  null,
  [],
  ['1'],
  {},
]

function numbers(scene: GetScene): void {
  test('an amount that is negative, nothing, too long or no plain decimal string is 400 wherever it stands', async () => {
    const { client } = scene()
    const traders = await tradersOf(client, 'numbers')
    const { alice, bob, gold } = traders
    const { given } = offers(traders)
    for (const amount of NO_AMOUNTS as readonly string[]) {
      const orders: readonly (readonly [Members, string])[] = [
        [{ type: 'credit', amount, token_id: gold }, 'amount'],
        [{ type: 'debit', amount, token_id: gold }, 'amount'],
        [{ type: 'transfer', amount, token_id: gold, to_account_id: bob.accountId }, 'amount'],
        [{ type: 'mint', amount, token_id: gold }, 'amount'],
        [{ type: 'burn', amount, token_id: gold }, 'amount'],
        [{ ...given, receive: { token_id: traders.silver, amount } }, 'receive.amount'],
      ]
      for (const [fields, field] of orders) {
        const reply = await client.submit(alice, keyed(fields))
        expect([amount, outcomeOf(reply), fieldsOf(reply)]).toEqual([amount, '400 ERR_INVALID_AMOUNT', [field]])
      }
      const [debit = {}, credit = {}] = payment(alice, bob, amount, gold)
      const group = await client.post('/v1/settlement-groups', { legs: [debit, credit] })
      expect([amount, outcomeOf(group), fieldsOf(group)]).toEqual([
        amount,
        '400 ERR_INVALID_AMOUNT',
        ['legs[0].amount', 'legs[1].amount'],
      ])
    }
    expect(await holdingOf(client, alice.accountId, gold)).toEqual(free('100'))
    expect(await client.read(`/v1/fungible-tokens/${gold}`)).toMatchObject({ total_supply: '100' })
  })

  test('a supply that is negative or too long is 400, and no token comes of it', async () => {
    const { client } = scene()
    for (const supply of ['-1', '-0', `1${'0'.repeat(18)}`, '1e9', '0.001', '', '1.']) {
      const reply = await registerToken(client, { symbol: 'NEGATIVE', issuer: 'nobody@attacks', total_supply: supply })
      expect([supply, outcomeOf(reply)]).toEqual([supply, '400 ERR_INVALID_TOTAL_SUPPLY'])
    }
    expect((await client.get('/v1/fungible-tokens/NEGATIVE')).status).toBe(404)
    expect((await client.get('/v1/accounts/nobody@attacks')).status).toBe(404)
  })
}
