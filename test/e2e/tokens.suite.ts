/** Goal: a token is registered once, its supply is all there is of it, and only its issuer makes more (D1, D5). */
import { describe, expect, test } from 'vitest'
import { membersOf, textOf } from '../support/client.ts'
import { type Members, newAccountKeys, signed } from '../support/client-keys.ts'
import {
  accepted,
  ended,
  fieldsOf,
  free,
  funded,
  holdingOf,
  issued,
  keyed,
  moved,
  outcomeOf,
  registerToken,
  submitted,
} from '../support/client-moves.ts'
import type { GetScene } from './scene.ts'

const LARGEST = '9'.repeat(18)
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

export function tokensSuite(scene: GetScene): void {
  describe('tokens', () => {
    registrations(scene)
    repeats(scene)
    issuers(scene)
    supplies(scene)
    amounts(scene)
  })
}

function registrations(scene: GetScene): void {
  test('D5: a registration is 201 when the supply is its issuer’s: it is read, at every edge, right after', async () => {
    const { client, elsewhere } = scene()
    const issuer = await client.register('first@tokens')
    const reply = await registerToken(client, { symbol: 'FIRST', issuer: issuer.accountId, total_supply: '1000.50' })
    expect(reply.status).toBe(201)
    for (const edge of [elsewhere, client]) {
      expect(await holdingOf(edge, issuer.accountId, 'FIRST')).toEqual(free('1000.5'))
    }
    const token = membersOf(reply)
    expect(token).toEqual({
      token_id: 'FIRST',
      symbol: 'FIRST',
      decimals: 2,
      issuer: 'first@tokens',
      total_supply: '1000.5',
      created_at: expect.stringMatching(TIMESTAMP),
    })
    expect(reply.headers.location).toBe('/v1/fungible-tokens/FIRST')
    expect(await elsewhere.read('/v1/fungible-tokens/FIRST')).toEqual(token)
    expect(await elsewhere.readAll('/v1/fungible-tokens', 'tokens')).toContainEqual(token)
    const { transactions } = await client.read('/v1/transactions?account_id=first@tokens')
    expect(transactions).toMatchObject([{ type: 'mint', status: 'completed', token_id: 'FIRST' }])
    const [mint = {}] = transactions as readonly Members[]
    const detail = await client.read(`/v1/transactions/${textOf(mint, 'txn_id')}`)
    expect(detail).toMatchObject({ origin: 'ledger', amount: expect.stringMatching(/^1000\.50?$/) })
  })

  test('D5: a supply of nothing credits nothing', async () => {
    const { client } = scene()
    const issuer = await client.register('empty@tokens')
    await issued(client, 'EMPTY', issuer, '0')
    expect((await client.get('/v1/accounts/empty@tokens/balances/EMPTY')).status).toBe(404)
    expect(await client.read('/v1/transactions?account_id=empty@tokens')).toMatchObject({ transactions: [] })
  })

  test('D1, D3: a symbol is taken in every case of its letters and found in one; BASE is taken from the start', async () => {
    const { client, elsewhere } = scene()
    const issuer = await client.register('cased@tokens')
    await issued(client, 'Cased.Name-1', issuer, '7')
    for (const symbol of ['Cased.Name-1', 'CASED.NAME-1', 'cased.name-1', 'BASE', 'bAsE']) {
      const rival = await registerToken(elsewhere, { symbol, issuer: 'rival@tokens', total_supply: '9' })
      expect([symbol, outcomeOf(rival)]).toEqual([symbol, '409 ERR_CONFLICT'])
    }
    expect((await client.get('/v1/accounts/rival@tokens')).status).toBe(404)
    expect((await client.get('/v1/fungible-tokens/Cased.Name-1')).status).toBe(200)
    for (const other of ['CASED.NAME-1', 'BASE']) {
      expect(outcomeOf(await client.get(`/v1/fungible-tokens/${other}`))).toBe('404 ERR_NOT_FOUND')
    }
    const symbols = (await client.readAll('/v1/fungible-tokens', 'tokens')).map(({ symbol }) => symbol)
    expect(symbols).not.toContain('BASE')
    expect(symbols.filter((symbol) => /^cased/i.test(String(symbol)))).toEqual(['Cased.Name-1'])
  })

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
}

function repeats(scene: GetScene): void {
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
}

function issuers(scene: GetScene): void {
  test('D2: an issuer that nobody knew is keyless: it holds its supply, cannot submit, and is claimed by who named it', async () => {
    const { client } = scene()
    const token = { symbol: 'KEYLESS', issuer: 'keyless@tokens', total_supply: '30' }
    expect((await registerToken(client, token)).status).toBe(201)
    expect(await client.read('/v1/accounts/keyless@tokens')).toMatchObject({ public_key: null, status: 'active' })
    const keys = newAccountKeys()
    const holder = { accountId: 'keyless@tokens', keys }
    const payment = { type: 'debit', amount: '10', token_id: 'KEYLESS' }
    expect(outcomeOf(await client.submit(holder, keyed(payment)))).toBe('403 ERR_FORBIDDEN')
    const giver = await funded(client, 'giver@tokens', '4')
    await moved(client, giver, { type: 'transfer', amount: '4', to_account_id: 'keyless@tokens' })
    const claim = await client.post('/v1/accounts', { account_id: 'keyless@tokens', public_key: keys.jwk })
    expect(claim.status).toBe(201)
    expect(membersOf(claim)['public_key']).toMatchObject(keys.jwk)
    await moved(client, holder, payment)
    expect(await holdingOf(client, 'keyless@tokens', 'KEYLESS')).toEqual(free('20'))
    expect(await holdingOf(client, 'keyless@tokens')).toEqual(free('4'))
  })

  test('D5: a signature that a registration carries must be its issuer’s', async () => {
    const { client } = scene()
    const issuer = await client.register('signing@tokens')
    const token = { symbol: 'SIGNED', decimals: 0, issuer: issuer.accountId, total_supply: '3' }
    const forged = await client.post('/v1/fungible-tokens', signed(token, newAccountKeys().privateKey))
    expect(outcomeOf(forged)).toBe('403 ERR_SIGNATURE_MISMATCH')
    // Nothing is left of it, the name included.
    expect((await client.get('/v1/fungible-tokens/SIGNED')).status).toBe(404)
    expect((await client.post('/v1/fungible-tokens', signed(token, issuer.keys.privateKey))).status).toBe(201)
    expect(await holdingOf(client, issuer.accountId, 'SIGNED')).toEqual(free('3'))
  })

  test('D5: the issuer mints, which raises supply and balance; anybody else is 403 and uses no key up', async () => {
    const { client } = scene()
    const issuer = await client.register('minting@tokens')
    await issued(client, 'MINTED', issuer, '100')
    await moved(client, issuer, { type: 'mint', amount: '25.25', token_id: 'MINTED' })
    expect(await client.read('/v1/fungible-tokens/MINTED')).toMatchObject({ total_supply: '125.25' })
    expect(await holdingOf(client, issuer.accountId, 'MINTED')).toEqual(free('125.25'))
    const other = await funded(client, 'other@tokens', '5', 'MINTED')
    const mint = keyed({ type: 'mint', amount: '1', token_id: 'MINTED' })
    expect(outcomeOf(await client.submit(other, mint))).toBe('403 ERR_NOT_ISSUER')
    const { idempotency_key: idempotencyKey = '' } = mint
    const found = await client.read(
      `/v1/transactions?account_id=${other.accountId}&idempotency_key=${encodeURIComponent(String(idempotencyKey))}`,
    )
    expect(found['transactions']).toEqual([])
    expect(await client.read('/v1/fungible-tokens/MINTED')).toMatchObject({ total_supply: '125.25' })
  })
}

function supplies(scene: GetScene): void {
  test('D5: whoever holds a token burns it, which lowers supply and balance', async () => {
    const { client } = scene()
    const issuer = await client.register('burning@tokens')
    await issued(client, 'BURNT', issuer, '100')
    const holder = await client.register('burner@tokens')
    await moved(client, issuer, { type: 'transfer', amount: '40', token_id: 'BURNT', to_account_id: holder.accountId })
    await moved(client, holder, { type: 'burn', amount: '15.5', token_id: 'BURNT' })
    expect(await holdingOf(client, holder.accountId, 'BURNT')).toEqual(free('24.5'))
    expect(await client.read('/v1/fungible-tokens/BURNT')).toMatchObject({ total_supply: '84.5' })
    const tooMuch = await submitted(client, holder, { type: 'burn', amount: '24.51', token_id: 'BURNT' })
    expect(tooMuch).toMatchObject({ status: 'failed', failure: { code: 'insufficient_funds' } })
    expect(await client.read('/v1/fungible-tokens/BURNT')).toMatchObject({ total_supply: '84.5' })
  })

  test('D5: a burn above the supply fails, and a mint above 18 digits; nothing stays reserved', async () => {
    const { client } = scene()
    const issuer = await client.register('bounds@tokens')
    await issued(client, 'BOUNDS', issuer, '10')
    await moved(client, issuer, { type: 'credit', amount: '90', token_id: 'BOUNDS' })
    const burn = await submitted(client, issuer, { type: 'burn', amount: '50', token_id: 'BOUNDS' })
    expect(burn).toMatchObject({ status: 'failed', failure: { code: 'supply_underflow' }, audit_hash: null })
    expect(await holdingOf(client, issuer.accountId, 'BOUNDS')).toEqual(free('100'))
    await moved(client, issuer, { type: 'debit', amount: '100', token_id: 'BOUNDS' })
    const mint = await submitted(client, issuer, { type: 'mint', amount: LARGEST, token_id: 'BOUNDS' })
    expect(mint).toMatchObject({ status: 'failed', failure: { code: 'supply_limit' } })
    expect(await holdingOf(client, issuer.accountId, 'BOUNDS')).toEqual(free('0'))
    expect(await client.read('/v1/fungible-tokens/BOUNDS')).toMatchObject({ total_supply: '10' })
    // The room that it kept is free again: the largest balance still fits.
    await moved(client, issuer, { type: 'credit', amount: LARGEST, token_id: 'BOUNDS' })
    const limit = await submitted(client, issuer, { type: 'mint', amount: '1', token_id: 'BOUNDS' })
    expect(limit).toMatchObject({ status: 'failed', failure: { code: 'balance_limit' } })
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

function amounts(scene: GetScene): void {
  test('D4: an amount finer than the token is 400; zeros behind it are not finer, and it is shown as it was signed', async () => {
    const { client } = scene()
    const holder = await client.register('fine@tokens')
    await issued(client, 'FINE', holder, '0')
    for (const type of ['credit', 'mint', 'debit', 'burn']) {
      const finer = await client.submit(holder, keyed({ type, amount: '1.001', token_id: 'FINE' }))
      expect([type, outcomeOf(finer), fieldsOf(finer)]).toEqual([type, '400 ERR_INVALID_AMOUNT', ['amount']])
    }
    const credit = await moved(client, holder, { type: 'credit', amount: '1.25000', token_id: 'FINE' })
    expect(credit['amount']).toBe('1.25000')
    expect(await holdingOf(client, holder.accountId, 'FINE')).toEqual(free('1.25'))
  })

  test('D1: a token that does not exist, or not in this case, is 404 with its field', async () => {
    const { client } = scene()
    const holder = await client.register('unknown@tokens')
    await issued(client, 'KNOWN', holder, '1')
    for (const tokenId of ['UNKNOWN', 'known']) {
      for (const type of ['credit', 'debit', 'burn']) {
        const reply = await client.submit(holder, keyed({ type, amount: '1', token_id: tokenId }))
        expect([outcomeOf(reply), fieldsOf(reply)]).toEqual(['404 ERR_NOT_FOUND', ['token_id']])
      }
    }
  })
}
