/** Goal: the endpoints of imports: what is judged here, what is passed on, and what is answered. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { type ImportOutcome, LedgerImportsUnavailable } from '../../../runtime/ports/ledger-imports.ts'
import { fileOf, IMPORT_ID } from '../portability/import-scene.ts'
import { createEdgeFixture, LEDGER_ID } from './edge-fixture.ts'
import { createFakeImports, IMPORT_KEY } from './fake-imports.ts'

const { records } = await fileOf()

function setUp() {
  const imports = createFakeImports()
  return { imports, edge: createEdgeFixture({ imports }) }
}

async function send(scene: ReturnType<typeof setUp>, changes: JsonObject = {}) {
  const body = { import_id: IMPORT_ID, part: 0, records: [...records], last: true, ...changes }
  const response = await scene.edge.post('/v1/imports', body, await scene.edge.tokenFor('admin'))
  return { status: response.status, body: (await response.json()) as JsonObject }
}

describe('GET /v1/imports/key', () => {
  test('tells everybody with a token what is encrypted to, and for which ledger', async () => {
    const { edge } = setUp()
    const response = await edge.get('/v1/imports/key', await edge.tokenFor('viewer'))
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        ledger_id: LEDGER_ID,
        public_key: { kty: 'EC', crv: 'P-256', x: IMPORT_KEY.x, y: IMPORT_KEY.y },
        key_id: IMPORT_KEY.keyId,
      },
    ])
  })
})

describe('POST /v1/imports', () => {
  test('passes records on as they came, and the import by its ID in lower case', async () => {
    const scene = setUp()
    expect((await send(scene, { import_id: IMPORT_ID.toUpperCase() })).status).toBe(202)
    expect(scene.imports.taken).toEqual([
      {
        importId: IMPORT_ID,
        part: 0,
        last: true,
        records: records.map((record) => ({ record, wellFormed: true })),
        caller: expect.objectContaining({ clientId: 'client-admin', role: 'admin' }),
      },
    ])
  })

  test('takes whatever may have been minted or registered, however deep, and nothing deeper', async () => {
    const nested = (depth: number): JsonObject => (depth === 1 ? {} : { a: nested(depth - 1) })
    const inside = async (name: string, depth: number) => {
      const scene = setUp()
      const deep = records.map((record) => (name in record ? { ...record, [name]: nested(depth) } : record))
      const { status, body } = await send(scene, { records: deep })
      return [status, scene.imports.taken.length, body['detail']]
    }
    for (const name of ['metadata', 'metadata_schema']) {
      // A body of 32 levels is one around 31.
      expect(await inside(name, 31)).toEqual([202, 1, undefined])
      expect(await inside(name, 32)).toEqual([400, 0, 'The JSON is nested deeper than 34 levels.'])
    }
  })

  test('a record is an object', async () => {
    const { status, body } = await send(setUp(), { records: ['text'] })
    expect([status, body['errors']]).toEqual([400, [expect.objectContaining({ field: 'records[0]' })]])
  })

  test('tells what is wrong with shapes and with what is behind them at once, each field once', async () => {
    const scene = setUp()
    scene.imports.outcome = {
      kind: 'invalid',
      faults: [
        { code: 'balance', field: 'records[6].balances[0].encrypted_balance', message: 'does not open' },
        { code: 'field', field: 'records[1].created_at', message: 'told already' },
      ],
    }
    const damaged = records.map((record, index) =>
      index === 1 ? { ...record, created_at: 'x', initial_supply: 'y' } : record,
    )
    const { status, body } = await send(scene, { records: damaged })
    expect(status).toBe(400)
    expect((body['errors'] as readonly JsonObject[]).map(({ field }) => field)).toEqual([
      'records[1].initial_supply',
      'records[1].created_at',
      'records[6].balances[0].encrypted_balance',
    ])
    expect(body['error_codes']).toEqual(['ERR_INVALID_INITIAL_SUPPLY', 'ERR_INVALID_CREATED_AT', 'ERR_INVALID_BALANCE'])
    expect(scene.imports.taken[0]?.records.map(({ wellFormed }) => wellFormed)).toEqual(
      records.map((_, at) => at !== 1),
    )
  })

  test('a part with a wrong shape is refused whatever it is answered', async () => {
    const scene = setUp()
    const { status } = await send(scene, { records: [{ record: 'receipt' }] })
    expect(status).toBe(400)
    expect(scene.imports.taken[0]?.records[0]?.wellFormed).toBe(false)
  })

  test('a schema that nothing can be held to is refused', async () => {
    const scene = setUp()
    scene.edge.schemas.schemaVerdict = { kind: 'invalid', reason: 'is no schema' }
    const { status, body } = await send(scene)
    expect([status, body['error_codes']]).toEqual([400, ['ERR_INVALID_SCHEMA']])
    expect(body['errors']).toEqual([{ field: 'records[2].metadata_schema', message: 'is no schema' }])
    scene.edge.schemas.schemaVerdict = { kind: 'overloaded' }
    expect(await send(scene)).toMatchObject({
      status: 503,
      body: { error_codes: ['ERR_OVERLOADED'], outcome: 'not_applied' },
    })
  })

  test('a client that is scoped to accounts brings in none of others', async () => {
    const scene = setUp()
    await scene.edge.tokenFor('admin')
    const client = scene.edge.access.clients.get('client-admin')
    if (client === undefined) throw new Error('there is no client')
    scene.edge.access.clients.set('client-admin', { ...client, accounts: ['alice', 'mint'] })
    await scene.edge.clock.advance(60_000)
    const { status, body } = await send(scene)
    expect([status, body['errors']]).toEqual([404, [expect.objectContaining({ field: 'records[3].owner' })]])
    expect(scene.imports.taken).toEqual([])
  })

  const summary = { accounts: 2, tokens: 1, nftClasses: 1, nftInstances: 2, attestations: 1, present: 0 }
  test.for<[ImportOutcome, number, JsonObject]>([
    [
      { kind: 'staged', nextPart: 3, lines: 17 },
      202,
      { import_id: IMPORT_ID, status: 'staging', next_part: 3, lines: 17 },
    ],
    [
      { kind: 'under_way', phase: 'taking', done: 3, total: 9 },
      202,
      { import_id: IMPORT_ID, status: 'taking', done: 3, total: 9 },
    ],
    [
      { kind: 'done', summary },
      200,
      {
        import_id: IMPORT_ID,
        status: 'done',
        summary: { accounts: 2, tokens: 1, nft_classes: 1, nft_instances: 2, attestations: 1, present: 0 },
      },
    ],
    [{ kind: 'conflict', field: 'part', detail: 'Part 1 comes next.' }, 409, { error_codes: ['ERR_CONFLICT'] }],
    [
      { kind: 'exists', field: 'lines[9]', detail: 'line 9: There is another.' },
      409,
      { error_codes: ['ERR_CONFLICT'], errors: [{ field: 'lines[9]', message: 'line 9: There is another.' }] },
    ],
    [{ kind: 'untrusted', field: 'records[0].ledger_id', detail: 'No.' }, 403, { error_codes: ['ERR_FORBIDDEN'] }],
    [
      {
        kind: 'mismatch',
        field: 'records[0].signature',
        detail: 'No.',
        signed: { keyId: 'the key', payloadHash: 'ab'.repeat(32) },
      },
      403,
      {
        error_codes: ['ERR_SIGNATURE_MISMATCH'],
        key_id: 'the key',
        payload_digest: `sha256:${'ab'.repeat(32)}`,
      },
    ],
    [
      { kind: 'invalid', faults: [{ code: 'wrong_ledger', field: 'records[0].audience', message: 'no' }] },
      400,
      { error_codes: ['ERR_WRONG_LEDGER'] },
    ],
    [
      { kind: 'invalid', faults: [{ code: 'proof_hash', field: 'lines[9].proof_hash', message: 'no' }] },
      400,
      { error_codes: ['ERR_INVALID_PROOF_HASH'] },
    ],
  ])('answers %j', async ([outcome, status, members]) => {
    const scene = setUp()
    scene.imports.outcome = outcome
    const answer = await send(scene)
    expect([answer.status, answer.body]).toEqual([status, expect.objectContaining(members)])
  })

  test('D8: what is not known of a part is said to be not known', async () => {
    const scene = setUp()
    scene.imports.failure = new LedgerImportsUnavailable('away')
    expect(await send(scene)).toMatchObject({ status: 503, body: { outcome: 'unknown' } })
    expect(scene.edge.log.map(({ event }) => event)).toContain('port_unavailable')
  })
})

describe('GET /v1/imports/{id}', () => {
  test('tells an administrator what became of it, with the reason where it was refused', async () => {
    const { edge, imports } = setUp()
    const token = await edge.tokenFor('admin')
    const common = { nextPart: 3, lines: 17 }
    imports.statuses.set(IMPORT_ID, { phase: 'applying', ...common, done: 1, total: 9 })
    const look = async () => (await edge.get(`/v1/imports/${IMPORT_ID.toUpperCase()}`, token)).json()
    const shown = { import_id: IMPORT_ID, next_part: 3, lines: 17 }
    expect(await look()).toEqual({ ...shown, status: 'applying', done: 1, total: 9 })
    const refusal = { kind: 'exists', field: 'lines[9]', detail: 'line 9: There is another.' } as const
    imports.statuses.set(IMPORT_ID, { phase: 'refused', ...common, refusal })
    expect(await look()).toEqual({
      ...shown,
      status: 'refused',
      refusal: {
        detail: 'line 9: There is another.',
        error_codes: ['ERR_CONFLICT'],
        errors: [{ field: 'lines[9]', message: 'line 9: There is another.' }],
      },
    })
    expect((await edge.get('/v1/imports/none', token)).status).toBe(404)
    expect((await edge.get(`/v1/imports/${IMPORT_ID}`, await edge.tokenFor('viewer'))).status).toBe(403)
  })
})
