/** The limits, each from both sides. */
import { expect } from 'vitest'
import { type LedgerClient, membersOf, textOf } from '../../support/client.ts'
import { partsOf } from '../../support/client-forged-token.ts'
import { chunked, sendRaw } from '../../support/client-raw.ts'
import { newAccountKeys } from '../../support/client-keys.ts'
import { fieldsOf, keyed, moved, outcomeOf, registerToken } from '../../support/client-moves.ts'
import { mintedTo } from '../../support/client-nfts.ts'
import type { Members } from '../../support/client-keys.ts'
import { askToken, credentialsOf, refreshed } from './authentication.ts'
import { letTimePass, REFRESH_LIFETIME_S } from './bearer-tokens.ts'
import { failureOf } from './cast.ts'
import { crowdOf } from './crowd.ts'
import { bodied, entitled, lists } from './endpoints.ts'
import { BODY_LIMIT_BYTES } from './forms.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

export function limitsChapter(suite: Suite): void {
  sizes(suite)
  digits(suite)
  pages(suite)
  lifetimes(suite)
}

function sizes(suite: Suite): void {
  const row = suite.chapter('Limits')

  row('request body size', '1,048,576 bytes are taken, one more is 413, announced or not', async ({ transactor }) => {
    const body = JSON.stringify({ account_id: 'large@limits', public_key: newAccountKeys().jwk })
    const larger = body + ' '.repeat(BODY_LIMIT_BYTES + 1 - body.length)
    expect(outcomeOf(await transactor.post('/v1/accounts', larger))).toBe('413 ERR_PAYLOAD_TOO_LARGE')
    const unannounced = await sendRaw(transactor.origin, inChunks(transactor, larger))
    expect(outcomeOf(unannounced)).toBe('413 ERR_PAYLOAD_TOO_LARGE')
    const largest = await transactor.post('/v1/accounts', body + ' '.repeat(BODY_LIMIT_BYTES - body.length))
    expect([largest.status, membersOf(largest)['account_id']]).toEqual([201, 'large@limits'])
  })

  row('content type', 'application/json on every POST; none is 415', async (stage) => {
    for (const { method, path, access } of bodied(stage)) {
      const client = entitled(stage, { method, path, access })
      const reply = await client.ask({ method, path, headers: client.authorization(), body: '{}' })
      expect([path, outcomeOf(reply)]).toEqual([path, '415 ERR_UNSUPPORTED_CONTENT_TYPE'])
    }
  })

  row('account ID length', '128 characters, in bodies and paths; 129 are 400', async ({ transactor, cast }) => {
    const [longest, longer] = ['l'.repeat(128), 'l'.repeat(129)]
    const registered = await transactor.post('/v1/accounts', { account_id: longest, public_key: newAccountKeys().jwk })
    expect(registered.status).toBe(201)
    expect((await transactor.get(`/v1/accounts/${longest}/state`)).status).toBe(200)
    expect(outcomeOf(await transactor.get(`/v1/accounts/${longer}/state`))).toBe('400 ERR_INVALID_ACCOUNT_ID')
    const toLonger = { type: 'transfer', amount: '1', to_account_id: longer }
    const reply = await transactor.submit(cast.alice, keyed(toLonger))
    expect([outcomeOf(reply), fieldsOf(reply)]).toEqual(['400 ERR_INVALID_ACCOUNT_ID', ['to_account_id']])
    await moved(transactor, cast.alice, { ...toLonger, to_account_id: longest })
  })

  row('idempotency key length', '255 printable ASCII characters; 256 are 400', async ({ transactor, cast }) => {
    const order = { type: 'credit', amount: '1' }
    const longest = await transactor.submit(cast.alice, { ...order, idempotency_key: '~'.repeat(255) })
    expect(longest.status).toBe(202)
    for (const key of ['~'.repeat(256), '', 'ä', 'a\nb', 7]) {
      const reply = await transactor.submit(cast.alice, { ...order, idempotency_key: key })
      expect([key, outcomeOf(reply)]).toEqual([key, '400 ERR_INVALID_IDEMPOTENCY_KEY'])
    }
  })
}

function digits(suite: Suite): void {
  const row = suite.chapter('Limits')

  row(
    'amount digits',
    '18 integer and 18 decimal digits, in amounts, balances and supplies; 19 are 400',
    async (stage) => {
      const { transactor, viewer } = stage
      const holder = await transactor.register('digits@limits')
      const largest = `${'9'.repeat(18)}.${'9'.repeat(18)}`
      const token = { symbol: 'DIGITS', issuer: holder.accountId, decimals: 18 }
      expect((await registerToken(transactor, { ...token, total_supply: largest })).status).toBe(201)
      expect((await viewer.read('/v1/fungible-tokens/DIGITS'))['total_supply']).toBe(largest)
      const balance = await viewer.read(`/v1/accounts/${holder.accountId}/balances/DIGITS`)
      expect(balance['balance']).toBe(largest)
      const mint = { type: 'mint', token_id: 'DIGITS', amount: '0.1' }
      expect(await failureOf(transactor, holder, mint)).toBe('balance_limit')
      const toAlice = { type: 'transfer', token_id: 'DIGITS', amount: '1', to_account_id: stage.cast.alice.accountId }
      await moved(transactor, holder, toAlice)
      expect(await failureOf(transactor, holder, mint)).toBe('supply_limit')
      for (const wrong of [`1${'0'.repeat(18)}`, `0.${'0'.repeat(18)}1`, `${'9'.repeat(19)}.1`]) {
        const reply = await transactor.submit(holder, keyed({ type: 'burn', token_id: 'DIGITS', amount: wrong }))
        expect([wrong, outcomeOf(reply)]).toEqual([wrong, '400 ERR_INVALID_AMOUNT'])
        const supply = await registerToken(transactor, { ...token, symbol: 'DIGITS-2', total_supply: wrong })
        expect([wrong, outcomeOf(supply)]).toEqual([wrong, '400 ERR_INVALID_TOTAL_SUPPLY'])
      }
      const finer = await transactor.submit(
        stage.cast.alice,
        keyed({ type: 'burn', token_id: 'COIN', amount: '0.001' }),
      )
      expect(outcomeOf(finer)).toBe('400 ERR_INVALID_AMOUNT')
      const zeros = { type: 'mint', token_id: 'COIN', amount: '0.0100' }
      await moved(transactor, stage.cast.alice, zeros)
      await moved(transactor, stage.cast.alice, { ...zeros, type: 'burn' })
    },
  )

  row('token decimals', '0 to 18; -1 and 19 are 400', async ({ transactor, cast }) => {
    const outcomes: string[] = []
    for (const decimals of [-1, 0, 18, 19]) {
      const token = { symbol: `LIMIT-${decimals}`, issuer: cast.alice.accountId, total_supply: '1', decimals }
      outcomes.push(outcomeOf(await registerToken(transactor, token)))
    }
    expect(outcomes).toEqual(['400 ERR_INVALID_DECIMALS', '201', '201', '400 ERR_INVALID_DECIMALS'])
  })
}

function pages(suite: Suite): void {
  const row = suite.chapter('Limits')

  row('page_size', 'default 100, at most 1,000, on every list', async (stage) => {
    for (const endpoint of lists(stage)) {
      const client = entitled(stage, endpoint)
      for (const [pageSize, outcome] of [
        ['1', '200'],
        ['1000', '200'],
        ['1001', '200'],
        ['0', '400 ERR_INVALID_QUERY'],
        ['-1', '400 ERR_INVALID_QUERY'],
        ['1.5', '400 ERR_INVALID_QUERY'],
      ] as const) {
        const reply = await client.get(`${endpoint.path}?page_size=${pageSize}`)
        expect([endpoint.path, pageSize, outcomeOf(reply)]).toEqual([endpoint.path, pageSize, outcome])
      }
    }
    const { accountId, size } = await crowdOf(stage)
    for (const [query, rows] of [
      ['', 100],
      ['?page_size=1000', 1000],
      ['?page_size=1001', 1000],
    ] as const) {
      const chain = await stage.viewer.read(`/v1/accounts/${accountId}/audit-chain${query}`)
      expect([query, (chain['entries'] as readonly unknown[]).length]).toEqual([query, rows])
    }
    expect(size).toBeGreaterThan(1000)
    const shards = await stage.viewer.read('/v1/shards')
    expect((shards['shards'] as readonly unknown[]).length).toBe(100)
  })

  row(
    'page_token length',
    '512 characters are looked at, 513 are 400 too: none of that length is good',
    async (stage) => {
      const { scope } = await crowdOf(stage)
      const { next_page_token: token } = await stage.viewer.read(`/v1/transactions?${scope}&page_size=1`)
      expect(String(token).length).toBeLessThanOrEqual(512)
      expect((await stage.viewer.get(`/v1/transactions?${scope}&page_token=${String(token)}`)).status).toBe(200)
      for (const length of [512, 513]) {
        for (const { path, access, method } of lists(stage)) {
          const padded = String(token).padEnd(length, 'A')
          const reply = await entitled(stage, { path, access, method }).get(`${path}?page_token=${padded}`)
          expect([path, length, outcomeOf(reply), fieldsOf(reply)]).toEqual([
            path,
            length,
            '400 ERR_INVALID_QUERY',
            ['page_token'],
          ])
        }
      }
    },
  )

  row('provenance max_depth', '10 without it, 0 to 1,000; -1 and 1,001 are 400', async (stage) => {
    const path = await longLived(stage)
    for (const [query, deepest] of [
      ['', 10],
      ['?max_depth=10', 10],
      ['?max_depth=0', 0],
      ['?max_depth=11', 11],
      ['?max_depth=12', 12],
      ['?max_depth=1000', 12],
    ] as const) {
      const { provenance } = await stage.viewer.read(`${path}${query}`)
      const depths = (provenance as readonly Members[]).map(({ depth }) => depth)
      const all = Array.from({ length: deepest + 1 }, (_, depth) => depth)
      expect([query, [...new Set(depths)], depths.length]).toEqual([query, all, all.length + STATEMENTS])
    }
    for (const depth of ['-1', '1001', '1.5', 'x', '']) {
      const reply = await stage.viewer.get(`${path}?max_depth=${depth}`)
      expect([depth, outcomeOf(reply), fieldsOf(reply)]).toEqual([depth, '400 ERR_INVALID_QUERY', ['max_depth']])
    }
  })
}

function lifetimes(suite: Suite): void {
  const row = suite.chapter('Limits')

  row('access token lifetime', '3,600 s', async (stage) => {
    const tokens = membersOf(await askToken(stage, credentialsOf(stage, 'admin')))
    const { claims } = partsOf(textOf(tokens, 'access_token'))
    expect([tokens['expires_in'], Number(claims['exp']) - Number(claims['iat'])]).toEqual([3600, 3600])
  })

  row('refresh token lifetime', '30 days', async (stage) => {
    const ages = [REFRESH_LIFETIME_S - 60, REFRESH_LIFETIME_S]
    const statuses: number[] = []
    for (const age of ages) {
      const tokens = membersOf(await askToken(stage, credentialsOf(stage, 'admin')))
      await letTimePass(stage, tokens, age)
      statuses.push((await refreshed(stage, tokens)).status)
    }
    expect(statuses).toEqual([200, 401])
  })
}

/** A POST whose length is not announced. */
function inChunks({ token }: LedgerClient, body: string): Buffer {
  const head = [
    'POST /v1/accounts HTTP/1.1',
    'Host: ledger',
    'Content-Type: application/json',
    `Authorization: Bearer ${token}`,
    'Transfer-Encoding: chunked',
    'Connection: close',
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), chunked(Buffer.from(body))])
}

/** Of the first owner's time. */
const STATEMENTS = 12
const TRANSFERS = 12

/** The provenance of an NFT that was minted, attested to twelve times, and then transferred twelve times. */
async function longLived({ transactor, cast }: Stage): Promise<string> {
  const nft = await mintedTo(transactor, cast.alice, { class_id: cast.classId, instance_id: 'long-lived' })
  for (let year = 1; year <= STATEMENTS; year += 1) {
    const reply = await transactor.post('/v1/attestations', {
      attester: 'inspector@london',
      subject_class: nft.class_id,
      subject_instance: nft.instance_id,
      attestation_type: 'inspection',
      statement: `Sound in year ${year}.`,
    })
    expect(reply.status).toBe(201)
  }
  for (let count = 0; count < TRANSFERS; count += 1) {
    const [from, to] = count % 2 === 0 ? [cast.alice, cast.bob] : [cast.bob, cast.alice]
    await moved(transactor, from, { type: 'transfer', to_account_id: to.accountId, ...nft })
  }
  return `/v1/nft-classes/${nft.class_id}/instances/${nft.instance_id}/provenance`
}
