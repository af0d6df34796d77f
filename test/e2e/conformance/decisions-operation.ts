/** Shards, and what stands outside /v1 (D15, D18). */
import { expect } from 'vitest'
import { type HttpReply, membersOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { outcomeOf } from '../../support/client-moves.ts'
import { TIMESTAMP } from './forms.ts'
import { sorted } from './sorted.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

const SHARDS = 256
const SLUGS = [
  'unauthorized',
  'forbidden',
  'validation-error',
  'not-found',
  'invalid-request',
  'shard-unavailable',
  'conflict',
  'payload-too-large',
  'unsupported-media-type',
  'method-not-allowed',
  'downstream-failure',
]

export function operationChapters(suite: Suite): void {
  shards(suite)
  publicOnes(suite)
}

function shards(suite: Suite): void {
  const row = suite.chapter('D15 shards')

  row(
    'GET /v1/shards',
    '200 with shards, by number: shard_id, owner, epoch, health_state, txn_count, updated_at',
    async ({ viewer }) => {
      const all = await viewer.readAll('/v1/shards', 'shards')
      expect(all.map((shard) => shard['shard_id'])).toEqual(Array.from({ length: SHARDS }, (_, id) => id))
      for (const shard of all) {
        expect(shard).toEqual({
          shard_id: expect.any(Number),
          owner: 'node-1',
          epoch: expect.any(Number),
          health_state: expect.stringMatching(/^(healthy|moving|draining|unavailable)$/),
          txn_count: expect.any(Number),
          updated_at: expect.stringMatching(TIMESTAMP),
        })
      }
      expect(await viewer.read('/v1/shards?page_size=1')).toMatchObject({
        total_count: SHARDS,
        shards: [{ shard_id: 0 }],
      })
    },
  )

  row('GET /v1/shards/{id}', '200 with the shard; 404 when there is none', async (stage) => {
    const { shard_id: shardId } = stage.cast.credited.receipt
    const shard = await stage.viewer.read(`/v1/shards/${String(shardId)}`)
    expect([shard['shard_id'], Number(shard['txn_count']) > 0]).toEqual([shardId, true])
    for (const id of ['256', '-1', '01', '1.0', 'x', '99999999999999999999']) {
      expect([id, outcomeOf(await stage.viewer.get(`/v1/shards/${id}`))]).toEqual([id, '404 ERR_NOT_FOUND'])
    }
  })

  row('PUT /v1/shards/{id}/health', '200; 409 when the shard has processed fewer; 403 for others', async (stage) => {
    const { txn_count: count } = await stage.viewer.read('/v1/shards/7')
    const draining = await putHealth(stage, 7, { health_state: 'draining', txn_count: Number(count) })
    expect([draining.status, membersOf(draining)['health_state']]).toEqual([200, 'draining'])
    expect((await stage.viewer.read('/v1/shards/7'))['health_state']).toBe('draining')
    const more = { health_state: 'healthy', txn_count: Number.MAX_SAFE_INTEGER }
    expect(outcomeOf(await putHealth(stage, 7, more))).toBe('409 ERR_CONFLICT')
    expect(outcomeOf(await putHealth(stage, 256, { health_state: 'healthy' }))).toBe('404 ERR_NOT_FOUND')
    expect(outcomeOf(await putHealth(stage, 7, { health_state: 'moving' }))).toBe('400 ERR_INVALID_HEALTH_STATE')
    expect((await putHealth(stage, 7, { health_state: 'healthy' })).status).toBe(200)
  })
}

function publicOnes(suite: Suite): void {
  const row = suite.chapter('D18 without a token')

  row('/', '200: the paths outside /v1; a browser is redirected to the documentation', async (stage) => {
    expect(membersOf(await read(stage, '/'))).toMatchObject({ documentation: '/docs', openapi: '/openapi.json' })
    const browser = await stage.ask({ method: 'GET', path: '/', headers: { accept: 'text/html' } })
    expect([browser.status, browser.headers.location]).toEqual([303, '/docs'])
  })

  row('/healthz', '200: the process answers', async (stage) => {
    expect(membersOf(await read(stage, '/healthz'))).toEqual({ status: 'ok' })
  })

  row('/readyz', '200: requests can be served, and of which ledger', async (stage) => {
    const ready = membersOf(await read(stage, '/readyz'))
    expect(ready).toMatchObject({ status: 'ready', ledger_id: stage.ledgerId, environment: 'sandbox' })
    expect(Object.values(ready['checks'] as Members).every((check) => check === true)).toBe(true)
  })

  row('/.well-known/jwks.json', '200: a public key of each purpose, and no private part', async (stage) => {
    const { keys, ledger_id: ledgerId } = membersOf(await read(stage, '/.well-known/jwks.json'))
    const published = keys as readonly Members[]
    expect(ledgerId).toBe(stage.ledgerId)
    expect(sorted(published.map(({ purpose }) => purpose))).toEqual(['assertion', 'attestation', 'receipt', 'token'])
    for (const key of published) {
      expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', use: 'sig', alg: 'ES256', nbf: expect.any(Number) })
      expect(key).not.toHaveProperty('d')
    }
  })

  row('/openapi.json', '200: the interface in OpenAPI 3.1', async (stage) => {
    const document = membersOf(await read(stage, '/openapi.json'))
    expect(document['openapi']).toMatch(/^3\.1\./)
    expect(Object.keys(document['paths'] as Members)).toContain('/v1/transactions/{txnId}')
  })

  row('/docs', '200: a page with nothing in it that comes from elsewhere', async (stage) => {
    const page = await read(stage, '/docs')
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.body).not.toMatch(/(?:src|srcset)="|<script|<link[^>]+href="https?:/)
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
  })

  row('/errors/{slug}', '200: a page for each type of problem; 404 for another', async (stage) => {
    for (const slug of SLUGS) {
      const page = await read(stage, `/errors/${slug}`)
      expect([slug, page.headers['content-type']]).toEqual([slug, 'text/html; charset=utf-8'])
      expect(page.body).toContain('ERR_')
    }
    const none = await stage.ask({ method: 'GET', path: '/errors/nothing' })
    expect(none.status).toBe(404)
  })
}

async function read({ ask }: Stage, path: string): Promise<HttpReply> {
  const reply = await ask({ method: 'GET', path })
  expect([path, reply.status]).toEqual([path, 200])
  return reply
}

function putHealth({ admin }: Stage, shardId: number, body: Members): Promise<HttpReply> {
  const headers = { ...admin.authorization(), 'content-type': 'application/json' }
  return admin.ask({ method: 'PUT', path: `/v1/shards/${shardId}/health`, headers, body: JSON.stringify(body) })
}
