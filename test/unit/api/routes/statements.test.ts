/** Balances at a time, and statements: signed pages that add up, and CSV (D22). */
import { createPublicKey, verify } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Movement } from '../../../../runtime/ports/ledger-reads.ts'
import { STREAMS_OF_ONE_CLIENT } from '../../../../api/http/stream-places.ts'
import { canonical, type Members } from '../../../support/client/client-keys.ts'
import {
  accountView,
  bodyOf,
  createEdgeFixture,
  type EdgeFixture,
  LEDGER_ID,
  refusalOf,
} from '../fakes/edge-fixture.ts'

const PATH = '/v1/accounts/alice/statements'
const BALANCE = { tokenId: 'BASE', tokenClass: 'fungible', incoming: '0', decimals: 18 } as const

async function scene(): Promise<{
  readonly edge: EdgeFixture
  readonly token: string
  readonly times: readonly string[]
}> {
  const edge = createEdgeFixture()
  const { reads, clock } = edge
  const startMs = clock.now() - 60_000
  const at = (index: number): number => startMs + index * 1_000
  reads.accountViews.set('alice', accountView('alice'))
  reads.balancesStated.set('alice', [
    { ...BALANCE, balance: '10', available: '10', sequence: 1, updatedAtMs: at(0) },
    { ...BALANCE, balance: '7', available: '6', sequence: 2, updatedAtMs: at(1) },
    { ...BALANCE, balance: '3', available: '3', sequence: 4, updatedAtMs: at(2), tokenId: 'EUR' },
  ])
  const movement = (index: number, amount: string, balanceAfter: string): Movement => {
    return { sequence: index + 1, txnId: `txn_${index}`, type: 'credit', amount, balanceAfter, atMs: at(index) }
  }
  reads.movementsOf.set('alice BASE', [
    { ...movement(0, '+10', '10'), txnId: null, type: 'import' },
    { ...movement(1, '-3', '7'), type: 'debit' },
    movement(2, '+0.5', '7.5'),
  ])
  const times = [0, 1, 2].map((index) => new Date(at(index)).toISOString())
  return { edge, token: await edge.tokenFor('viewer'), times }
}

describe('as_of', () => {
  test('shows the balance after the last entry at or before a time, and the entry', async () => {
    const { edge, token, times } = await scene()
    const [, second = '', third = ''] = times
    const shown = { account_id: 'alice', token_id: 'BASE', balance: '7', available: '6', incoming: '0', sequence: 2 }
    const one = await bodyOf(await edge.get(`/v1/accounts/alice/balances/BASE?as_of=${second}`, token))
    expect(one).toMatchObject({ ...shown, as_of: second, updated_at: second })
    const all = await bodyOf(await edge.get(`/v1/accounts/alice/balances?as_of=${third}&page_size=1`, token))
    expect(all['balances']).toMatchObject([{ token_id: 'BASE', balance: '7', as_of: third }])
    const rest = `/v1/accounts/alice/balances?as_of=${third}&page_token=${String(all['next_page_token'])}`
    expect((await bodyOf(await edge.get(rest, token)))['balances']).toMatchObject([{ token_id: 'EUR', sequence: 4 }])
  })

  test('is 404 for a token that had not moved, and leaves it out of the list', async () => {
    const { edge, token, times } = await scene()
    const early = `as_of=${times[1]}`
    expect((await edge.get(`/v1/accounts/alice/balances/EUR?${early}`, token)).status).toBe(404)
    expect((await edge.get(`/v1/accounts/bob/balances/EUR?${early}`, token)).status).toBe(404)
    expect((await edge.get(`/v1/accounts/bob/balances?${early}`, token)).status).toBe(404)
    const list = await bodyOf(await edge.get(`/v1/accounts/alice/balances?${early}`, token))
    expect(list['balances']).toMatchObject([{ token_id: 'BASE' }])
  })

  test.for(['/v1/accounts/alice/balances', '/v1/accounts/alice/balances/BASE'])(
    'in the future or ill-formed is 400: %s',
    async (path) => {
      const { edge, token } = await scene()
      const later = new Date(edge.clock.now() + 1).toISOString()
      for (const time of [later, 'yesterday', '2026-01-01T00:00:00']) {
        const response = await edge.get(`${path}?as_of=${time}`, token)
        expect([response.status, await refusalOf(response)]).toMatchObject([
          400,
          { codes: ['ERR_INVALID_TIMESTAMP'], fields: ['as_of'] },
        ])
      }
      const now = new Date(edge.clock.now()).toISOString()
      expect((await edge.get(`${path}?as_of=${now}`, token)).status).toBe(200)
    },
  )

  test('a fraction of a millisecond takes nothing from behind it', async () => {
    const { edge, token, times } = await scene()
    const between = String(times[0]).replace('Z', '5Z')
    const shown = await bodyOf(await edge.get(`/v1/accounts/alice/balances/BASE?as_of=${between}`, token))
    expect(shown).toMatchObject({ balance: '10', as_of: times[0] })
  })
})

describe('a statement', () => {
  test('has pages that are signed with the assertion key, each with its opening and closing', async () => {
    const { edge, token, times } = await scene()
    const pages: Record<string, unknown>[] = []
    for (let next = ''; pages.length === 0 || next !== '';) {
      const path = `${PATH}?token_id=BASE&page_size=2${next === '' ? '' : `&page_token=${next}`}`
      const page = await bodyOf(await edge.get(path, token))
      pages.push(page)
      next = String(page['next_page_token'])
    }
    const to = new Date(edge.clock.now()).toISOString()
    const shared = { account_id: 'alice', token_id: 'BASE', from: null, to, ledger_id: LEDGER_ID, generated_at: to }
    expect(pages).toMatchObject([
      {
        ...shared,
        opening: '0',
        opening_sequence: null,
        movements: [
          { sequence: 1, txn_id: null, type: 'import', amount: '+10', balance_after: '10', timestamp: times[0] },
          { sequence: 2, txn_id: 'txn_1', type: 'debit', amount: '-3', balance_after: '7', timestamp: times[1] },
        ],
        closing: '7',
        closing_sequence: 2,
        first_page: true,
        last_page: false,
      },
      {
        ...shared,
        opening: '7',
        opening_sequence: 2,
        closing: '7.5',
        closing_sequence: 3,
        first_page: false,
        last_page: true,
      },
    ])
    const { keys } = (await bodyOf(await edge.get('/.well-known/jwks.json'))) as { keys: Record<string, string>[] }
    for (const { signature, next_page_token: _, ...signed } of pages) {
      const { x = '', y = '', purpose } = keys.find(({ kid }) => kid === signed['key_id']) ?? {}
      const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
      const text = Buffer.from(canonical(signed as Members))
      expect([purpose, verify('sha256', text, key, Buffer.from(String(signature), 'base64'))]).toEqual([
        'assertion',
        true,
      ])
    }
  })

  test('later pages end where the first does, although time goes on', async () => {
    const { edge, token } = await scene()
    const first = await bodyOf(await edge.get(`${PATH}?token_id=BASE&page_size=1`, token))
    await edge.clock.advance(5_000)
    const path = `${PATH}?token_id=BASE&page_size=1&page_token=${String(first['next_page_token'])}`
    expect((await bodyOf(await edge.get(path, token)))['to']).toBe(first['to'])
  })

  test('from is inclusive and to exclusive', async () => {
    const { edge, token, times } = await scene()
    const page = await bodyOf(await edge.get(`${PATH}?token_id=BASE&from=${times[1]}&to=${times[2]}`, token))
    expect(page).toMatchObject({
      from: times[1],
      to: times[2],
      opening: '10',
      movements: [{ sequence: 2 }],
      closing: '7',
    })
  })

  test('of an empty interval has no movements', async () => {
    const { edge, token, times } = await scene()
    const page = await bodyOf(await edge.get(`${PATH}?token_id=BASE&from=${times[2]}&to=${times[1]}`, token))
    expect(page).toMatchObject({ opening: '7', movements: [], closing: '7', first_page: true, last_page: true })
  })

  test.for([
    ['', ['ERR_INVALID_TOKEN_ID'], ['token_id']],
    ['token_id=a%20b', ['ERR_INVALID_TOKEN_ID'], ['token_id']],
    ['token_id=BASE&from=soon', ['ERR_INVALID_TIMESTAMP'], ['from']],
    ['token_id=BASE&to=2999-01-01T00:00:00Z', ['ERR_INVALID_TIMESTAMP'], ['to']],
    ['token_id=BASE&from=2999-01-01T00:00:00Z', ['ERR_INVALID_TIMESTAMP'], ['from']],
    ['from=soon', ['ERR_INVALID_TIMESTAMP', 'ERR_INVALID_TOKEN_ID'], ['from', 'token_id']],
  ] as const)('is refused: %s', async ([query, codes, fields]) => {
    const { edge, token } = await scene()
    const response = await edge.get(`${PATH}?${query}`, token)
    const refused = (await refusalOf(response)) as { readonly codes: string[]; readonly fields: string[] }
    expect([response.status, refused.codes.toSorted(), refused.fields.toSorted()]).toEqual([400, codes, fields])
  })

  test('is 404 for an unknown account, and 503 where nothing can be signed', async () => {
    const { edge, token } = await scene()
    expect((await edge.get('/v1/accounts/nobody/statements?token_id=BASE', token)).status).toBe(404)
    edge.keys.failsAt = 'sign'
    expect((await edge.get(`${PATH}?token_id=BASE`, token)).status).toBe(503)
  })
})

describe('a statement as CSV', () => {
  const CSV = { accept: 'text/csv' }

  test('has a header row and all movements, page by page', async () => {
    const { edge, token, times } = await scene()
    const response = await edge.get(`${PATH}?token_id=BASE&page_size=1`, token, CSV)
    expect([response.headers.get('content-type'), response.headers.get('vary')]).toEqual(['text/csv', 'Accept'])
    expect(await response.text()).toBe(
      [
        'sequence,txn_id,type,amount,balance_after,timestamp',
        `1,,import,+10,10,${times[0]}`,
        `2,txn_1,debit,-3,7,${times[1]}`,
        `3,txn_2,credit,+0.5,7.5,${times[2]}`,
        '',
      ].join('\r\n'),
    )
  })

  test('takes a place among the lists of the client, and gives it back', async () => {
    const { edge, token } = await scene()
    const ask = () => edge.get(`${PATH}?token_id=BASE`, token, CSV)
    const open = await Promise.all(Array.from({ length: STREAMS_OF_ONE_CLIENT }, ask))
    expect((await ask()).status).toBe(503)
    await open[0]?.text()
    expect((await ask()).status).toBe(200)
  })

  test('breaks off where a page cannot be read', async () => {
    const { edge, token } = await scene()
    const response = await edge.get(`${PATH}?token_id=BASE&page_size=1`, token, CSV)
    edge.reads.failure = new Error('the database is gone')
    await expect(response.text()).rejects.toThrow('the database is gone')
    expect(edge.log.map(({ level }) => level)).toContain('error')
  })

  test('reads no further once the client has left, although no page has movements', async () => {
    const { edge, token } = await scene()
    const end = { balance: '0', sequence: null }
    let read = 0
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
    const movements = async () => {
      read += 1
      if (read === 4) await reader?.cancel()
      if (read > 9) throw new Error('the client has left')
      return { opening: end, movements: [], closing: end, next: { atMs: read, sequence: read } }
    }
    Object.assign(edge.reads, { movements })
    reader = (await edge.get(`${PATH}?token_id=BASE`, token, CSV)).body?.getReader()
    await reader?.read()
    await reader?.read()
    // Everything here is in memory: what was begun ends within a few turns.
    for (let turn = 0; turn < 50; turn += 1) await setImmediate()
    expect(read).toBe(4)
  })
})
