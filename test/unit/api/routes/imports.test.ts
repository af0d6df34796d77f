/** The endpoints of imports check the shape of records, pass the records on, and show the outcome. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../actors/canonical-json.ts'
import {
  type ImportOutcome,
  type ImportStatus,
  LedgerImportsUnavailable,
} from '../../../../runtime/ports/ledger-imports.ts'
import { fileOf, IMPORT_ID } from '../../portability/import-scene.ts'
import { clientOf, createEdgeFixture, LEDGER_ID } from '../fakes/edge-fixture.ts'
import { anImportStatus, createFakeImports, IMPORT_KEY } from '../fakes/fake-imports.ts'

const { records } = await fileOf()

function setUp(outcome?: ImportOutcome) {
  const imports = createFakeImports()
  if (outcome !== undefined) imports.outcome = outcome
  const edge = createEdgeFixture({ imports })
  async function send(changes: JsonObject = {}) {
    const body = { import_id: IMPORT_ID, part: 0, records: [...records], last: true, ...changes }
    const response = await edge.post('/v1/imports', body, await edge.tokenFor('admin'))
    const answer = (await response.json()) as JsonObject
    const fields = (answer['errors'] as readonly JsonObject[] | undefined)?.map(({ field }) => field)
    return { status: response.status, body: answer, codes: answer['error_codes'], fields }
  }
  return { imports, edge, send }
}

test('GET /v1/imports/key shows every client the encryption key and the ledger ID', async () => {
  const { edge } = setUp()
  const response = await edge.get('/v1/imports/key', await edge.tokenFor('viewer'))
  const { keyId, x, y } = IMPORT_KEY
  const shown = { ledger_id: LEDGER_ID, public_key: { kty: 'EC', crv: 'P-256', x, y }, key_id: keyId }
  expect([response.status, await response.json()]).toEqual([200, shown])
})

describe('POST /v1/imports', () => {
  test('passes the records on unchanged, and the import ID in lower case', async () => {
    const { imports, send } = setUp()
    expect((await send({ import_id: IMPORT_ID.toUpperCase() })).status).toBe(202)
    expect(imports.taken).toEqual([
      {
        importId: IMPORT_ID,
        part: 0,
        last: true,
        records: records.map((record) => ({ record, wellFormed: true })),
        caller: expect.objectContaining({ clientId: 'client-admin', role: 'admin' }),
      },
    ])
  })

  test.for([
    ['metadata', 31, [202, 1, undefined]],
    ['metadata', 32, [400, 0, 'The JSON is nested deeper than 34 levels.']],
    ['metadata_schema', 31, [202, 1, undefined]],
    ['metadata_schema', 32, [400, 0, 'The JSON is nested deeper than 34 levels.']],
  ] as const)(
    'accepts %s of as many levels as mints and registrations accept: %i levels',
    async ([name, depth, expected]) => {
      const nested = (levels: number): JsonObject => (levels === 1 ? {} : { a: nested(levels - 1) })
      const { imports, send } = setUp()
      const deep = records.map((record) => (name in record ? { ...record, [name]: nested(depth) } : record))
      const { status, body } = await send({ records: deep })
      expect([status, imports.taken.length, body['detail']]).toEqual(expected)
    },
  )

  test('reports faults of shape and of content together, each field once', async () => {
    const balance = 'records[6].balances[0].encrypted_balance'
    const { imports, send } = setUp({
      kind: 'invalid',
      faults: [
        { code: 'balance', field: balance, message: 'does not open' },
        { code: 'field', field: 'records[1].created_at', message: 'told already' },
      ],
    })
    const wrong = { created_at: 'x', initial_supply: 'y' }
    const damaged = records.map((record, index) => (index === 1 ? { ...record, ...wrong } : record))
    const { status, codes, fields } = await send({ records: damaged })
    expect([status, fields]).toEqual([400, ['records[1].initial_supply', 'records[1].created_at', balance]])
    expect(codes).toEqual(['ERR_INVALID_INITIAL_SUPPLY', 'ERR_INVALID_CREATED_AT', 'ERR_INVALID_BALANCE'])
    const formed = imports.taken[0]?.records.map(({ wellFormed }) => wellFormed)
    expect(formed).toEqual(records.map((_, at) => at !== 1))
  })

  test('refuses a part with a record of a wrong shape, also if the import accepted it', async () => {
    const { imports, send } = setUp()
    expect((await send({ records: [{ record: 'receipt' }] })).status).toBe(400)
    expect(imports.taken[0]?.records[0]?.wellFormed).toBe(false)
    expect(await send({ records: ['text'] })).toMatchObject({ status: 400, fields: ['records[0]'] })
  })

  test('refuses a class with an invalid schema', async () => {
    const { edge, send } = setUp()
    edge.schemas.schemaVerdict = { kind: 'invalid', reason: 'is no schema' }
    expect(await send()).toMatchObject({
      status: 400,
      codes: ['ERR_INVALID_SCHEMA'],
      body: { errors: [{ field: 'records[2].metadata_schema', message: 'is no schema' }] },
    })
    edge.schemas.schemaVerdict = { kind: 'overloaded' }
    expect(await send()).toMatchObject({ status: 503, codes: ['ERR_OVERLOADED'], body: { outcome: 'not_applied' } })
  })

  test('refuses a record of an account outside the client’s scope', async () => {
    const { edge, imports, send } = setUp()
    edge.access.clients.set('client-admin', { ...clientOf('client-admin', 'admin'), accounts: ['alice', 'mint'] })
    expect(await send()).toMatchObject({ status: 404, fields: ['records[3].owner'] })
    expect(imports.taken).toEqual([])
  })

  const summary = { accounts: 2, tokens: 1, nftClasses: 1, nftInstances: 2, attestations: 1, present: 0 }
  const summaryShown = { accounts: 2, tokens: 1, nft_classes: 1, nft_instances: 2, attestations: 1, present: 0 }
  const common = { import_id: IMPORT_ID }
  const signed = { keyId: 'the key', payloadHash: 'ab'.repeat(32) }
  const digest = { key_id: 'the key', payload_digest: `sha256:${'ab'.repeat(32)}` }
  const exists = { field: 'lines[9]', detail: 'line 9: There is another.' }
  const existsShown = [{ field: 'lines[9]', message: 'line 9: There is another.' }]
  const fault = { field: 'lines[9]', message: 'no' }
  test.for<[ImportOutcome, number, JsonObject]>([
    [{ kind: 'conflict', field: 'part', detail: 'Part 1 comes next.' }, 409, { error_codes: ['ERR_CONFLICT'] }],
    [{ kind: 'exists', ...exists }, 409, { error_codes: ['ERR_CONFLICT'], errors: existsShown }],
    [{ kind: 'untrusted', field: 'records[0].ledger_id', detail: 'No.' }, 403, { error_codes: ['ERR_FORBIDDEN'] }],
    [
      { kind: 'mismatch', field: 'records[0].signature', detail: 'No.', signed },
      403,
      { error_codes: ['ERR_SIGNATURE_MISMATCH'], ...digest },
    ],
    [{ kind: 'invalid', faults: [{ ...fault, code: 'wrong_ledger' }] }, 400, { error_codes: ['ERR_WRONG_LEDGER'] }],
    [{ kind: 'invalid', faults: [{ ...fault, code: 'proof_hash' }] }, 400, { error_codes: ['ERR_INVALID_PROOF_HASH'] }],
  ])('shows the outcome %j', async ([outcome, status, members]) => {
    expect(await setUp(outcome).send()).toMatchObject({ status, body: members })
  })

  test.for<[Partial<ImportStatus>, number, JsonObject]>([
    [{}, 202, { status: 'staging', next_part: 3, lines: 17 }],
    [{ phase: 'taking', done: 3, total: 9 }, 202, { status: 'taking', done: 3, total: 9 }],
    [{ phase: 'done', summary }, 200, { status: 'done', summary: summaryShown }],
  ])('shows the members of the phase: %j', async ([changes, status, members]) => {
    expect(await setUp(anImportStatus(changes)).send()).toMatchObject({ status })
    expect((await setUp(anImportStatus(changes)).send()).body).toEqual({ ...common, ...members })
  })

  test('D8: a 503 for a part has the outcome unknown', async () => {
    const { edge, imports, send } = setUp()
    imports.failure = new LedgerImportsUnavailable('away')
    expect(await send()).toMatchObject({ status: 503, body: { outcome: 'unknown' } })
    expect(edge.log.map(({ event }) => event)).toContain('port_unavailable')
  })
})

test('GET /v1/imports/{id} shows the progress of an import, and the reason of a refusal', async () => {
  const { edge, imports } = setUp()
  const token = await edge.tokenFor('admin')
  const look = async () => (await edge.get(`/v1/imports/${IMPORT_ID.toUpperCase()}`, token)).json()
  const shown = { import_id: IMPORT_ID, next_part: 3, lines: 17 }
  imports.statuses.set(IMPORT_ID, anImportStatus({ phase: 'applying', done: 1, total: 9 }))
  expect(await look()).toEqual({ ...shown, status: 'applying', done: 1, total: 9 })
  const detail = 'line 9: There is another.'
  const refusal = { kind: 'exists', field: 'lines[9]', detail } as const
  imports.statuses.set(IMPORT_ID, anImportStatus({ phase: 'refused', refusal }))
  const errors = [{ field: 'lines[9]', message: detail }]
  expect(await look()).toEqual({
    ...shown,
    status: 'refused',
    refusal: { detail, error_codes: ['ERR_CONFLICT'], errors },
  })
  expect((await edge.get('/v1/imports/none', token)).status).toBe(404)
})
