/** Rules that hold on every route with a request body. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../actors/canonical-json.ts'
import { canonical } from '../../../support/client/client-keys.ts'
import { createOpenApiDocument } from '../../../../api/openapi/document.ts'
import { DocumentedInterface } from '../../../support/documented-interface.ts'
import {
  bodyOf,
  clientOf,
  createEdgeFixture,
  type EdgeFixture,
  GROUP_ID,
  groupView,
  refusalOf,
  signedIn,
} from '../fakes/edge-fixture.ts'
import { DECIDED, type DecidedRequest, SIGNATURE, SIGNED, WRITTEN, type WrittenId } from './written-requests.ts'

const DESCRIBED = new DocumentedInterface(createOpenApiDocument('https://ledger.example/errors'))
const NAMED = DECIDED.map((request) => [request.id, request] as const)

async function decided({ path, body }: DecidedRequest, outcome: EdgeFixture['gateway']['outcome']): Promise<Response> {
  const edge = createEdgeFixture()
  edge.gateway.outcome = outcome
  return edge.post(path, body, await edge.tokenFor('admin'))
}

/** The refusal of a body that an administrator sent, and the requests that reached the ledger. */
async function sent(id: WrittenId, body: JsonObject) {
  const edge = createEdgeFixture()
  edge.reads.groupViews.set(GROUP_ID, groupView())
  const send = id === 'putShardHealth' ? edge.put : edge.post
  const response = await send(WRITTEN[id].path, body, await edge.tokenFor('admin'))
  return { refusal: await refusalOf(response), asked: edge.gateway.asked }
}

// roles.test.ts tests that token and role are checked earlier.
test.for(Object.entries(WRITTEN))(
  'D7: size, content type, text and shape are checked in this order, before the ledger: %s',
  async ([, request]) => {
    const { edge, token } = await signedIn('admin')
    const send = async (body: string, headers = {}) => {
      const put = 'method' in request ? edge.put : edge.post
      return (await put(request.path, body, token, headers)).status
    }
    const plain = { 'content-type': 'text/plain' }
    expect(await send('x'.repeat(1_048_577), plain)).toBe(413)
    expect(await send('{', plain)).toBe(415)
    expect(await send(JSON.stringify(request.body), { 'content-encoding': 'gzip' })).toBe(415)
    for (const text of ['', '{', '[]', JSON.stringify(request.body).replace('{', '{"a":1,"a":2,')]) {
      expect([text, await send(text)]).toEqual([text, 400])
    }
    expect(edge.gateway.asked).toEqual([])
  },
)

/** The body with a wrong value in its last field. */
function malformed(body: JsonObject): JsonObject {
  return { ...body, [Object.keys(body).at(-1) ?? '']: true }
}

test.for(NAMED)(
  'D7: text, path, shape with key, and scope are checked in this order: %s',
  async ([id, { path, body }]) => {
    const edge = createEdgeFixture()
    edge.access.clients.set('outside', { ...clientOf('outside', 'admin'), accounts: ['zoe'] })
    const [token, outside] = [await edge.tokenFor('admin'), await edge.tokenFor('admin', 'outside')]
    const wrong = path.replace(/\/(?:alice|3f2b[^/]*)/, '/%20')
    const key = { 'idempotency-key': 'x'.repeat(256) }
    expect(await refusalOf(await edge.post(wrong, '{', token))).toMatchObject({ fields: ['body'] })
    const misplaced = await refusalOf(await edge.post(wrong, malformed(body), outside, key))
    const code = path.includes('alice') ? 'ERR_INVALID_ACCOUNT_ID' : 'ERR_INVALID_GROUP_ID'
    expect(wrong === path ? [code] : misplaced.codes).toEqual([code])
    const field = Object.keys(body).at(-1)
    const isKeyed = DESCRIBED.byId(id).members.parameters?.some(({ name }) => name === 'Idempotency-Key') ?? false
    const fields = isKeyed ? ['Idempotency-Key', field] : [field]
    expect(await refusalOf(await edge.post(path, malformed(body), outside, key))).toMatchObject({ status: 400, fields })
    expect((await edge.post(path, body, outside)).status).toBe(404)
    expect(edge.gateway.asked).toEqual([])
  },
)

test.for(NAMED)('D8: a 503 has the outcome of the request, except of a dry run: %s', async ([, request]) => {
  const isDryRun = request.kind === 'dry_run'
  const inDoubt = isDryRun ? {} : { outcome: 'unknown' }
  for (const outcome of ['not_applied', 'unknown'] as const) {
    const response = await decided(request, { kind: 'unavailable', reason: 'shard_unavailable', outcome })
    const problem = await bodyOf(response)
    expect(problem).toMatchObject({ status: 503, error_codes: ['ERR_SHARD_UNAVAILABLE'] })
    expect(problem['outcome']).toBe(isDryRun ? undefined : outcome)
  }
  // The reply to another operation, and no reply.
  const unexpected = { kind: 'answered', answer: { kind: 'arrival', state: 'held' } } as const
  for (const outcome of [unexpected, new Error('away')]) {
    expect(await bodyOf(await decided(request, outcome))).toMatchObject({ status: 503, ...inDoubt })
  }
})

describe.for(NAMED.filter(([, { answer }]) => 'replayed' in answer))('D7: %s', ([, request]) => {
  test.for([
    [{ replayed: false, mismatch: false }, null, null],
    [{ replayed: true, mismatch: false }, 'true', null],
    [{ replayed: true, mismatch: true }, 'true', 'true'],
  ] as const)('a reply %j has its headers, and the body of the first', async ([told, ...headers]) => {
    const answered = (answer: DecidedRequest['answer']) => decided(request, { kind: 'answered', answer })
    const first = await answered(request.answer)
    const again = await answered({ ...request.answer, ...told })
    const names = ['idempotency-replayed', 'idempotency-payload-mismatch']
    expect(names.map((name) => again.headers.get(name))).toEqual(headers)
    expect([again.status, again.headers.get('location')]).toEqual([first.status, first.headers.get('location')])
    expect([again.status < 300, await again.text()]).toEqual([true, await first.text()])
  })
})

test.for(NAMED)('a refusal names its field: %s', async ([, request]) => {
  const refused = { kind: 'refused', code: 'group_exists', detail: 'No.', field: 'a_field' } as const
  const response = await decided(request, { kind: 'answered', answer: refused })
  expect(await refusalOf(response)).toEqual({ status: 409, codes: ['ERR_CONFLICT'], fields: ['a_field'] })
})

/** By hand: bodies that are always signed refuse unknown fields, as do optionally signed bodies with a signature. */
const CLOSED: readonly WrittenId[] = [
  'submitTransaction',
  'dryRunTransaction',
  'rotateKey',
  'mintNft',
  'declineSettlementGroup',
  'createHold',
  'captureHold',
  'releaseHold',
]
const SIGNED_AT_WILL: readonly WrittenId[] = ['createFungibleToken', 'createNftClass', 'createAttestation']
/** Not signed, but a misspelt field would give more rights than were meant. */
const CLOSED_UNSIGNED: readonly WrittenId[] = ['createClient', 'createWebhook']
const ALWAYS_CLOSED = [...CLOSED, ...CLOSED_UNSIGNED]
const UNKNOWN = { note: 'x', Metadata: {} }
const ALL = Object.keys(WRITTEN) as WrittenId[]

test.for([...CLOSED, ...SIGNED_AT_WILL])('D5: unknown fields are refused if they are signed: %s', async (id) => {
  const { refusal } = await sent(id, { ...WRITTEN[id].body, ...UNKNOWN, signature: SIGNATURE })
  expect(refusal).toEqual({ status: 400, codes: ['ERR_UNKNOWN_FIELD'], fields: ['note', 'Metadata'] })
})

test.for(CLOSED_UNSIGNED)('unknown fields are refused: %s', async (id) => {
  const { refusal } = await sent(id, { ...WRITTEN[id].body, ...UNKNOWN })
  expect(refusal).toEqual({ status: 400, codes: ['ERR_UNKNOWN_FIELD'], fields: ['note', 'Metadata'] })
})

test.for(ALWAYS_CLOSED)('D5: the document forbids unknown fields where they are always refused: %s', (id) => {
  expect(DESCRIBED.faultsOfBody(DESCRIBED.byId(id), { ...WRITTEN[id].body, ...UNKNOWN })).not.toEqual([])
})

test.for(ALL.filter((id) => !ALWAYS_CLOSED.includes(id)))(
  'D5: unknown fields of an unsigned body are ignored: %s',
  async (id) => {
    const { body } = WRITTEN[id]
    expect(await sent(id, { ...body, ...UNKNOWN })).toEqual(await sent(id, body))
    expect(DESCRIBED.faultsOfBody(DESCRIBED.byId(id), { ...body, ...UNKNOWN })).toEqual([])
  },
)

test.for(SIGNED)('D6: the signed payload is the canonical body without its signature: %s', async ([id, body]) => {
  const reversed = Object.fromEntries(Object.entries(body).toReversed())
  for (const [signature, carried] of [
    [SIGNATURE, SIGNATURE],
    ['A'.repeat(1_024), 'A'.repeat(1_024)],
    // Too long for a signature.
    ['A'.repeat(1_025), '-'],
  ]) {
    const { asked } = await sent(id, { signature: signature ?? '', ...reversed })
    expect(asked).toMatchObject([{ operation: { payload: canonical(body), signature: carried } }])
  }
})
