import { describe, expect, test } from 'vitest'
import type { Answer } from '../../../actors/account/outcome.ts'
import { accountAddress } from '../../../actors/address.ts'
import { accountView, bodyOf, createEdgeFixture, refusalOf } from './edge-fixture.ts'

const CLASS_ID = 'cls_01K6ZZZZZZ0000000000000000'
const OTHER_ID = 'cls_01K6ZZZZZZ0000000000000001'
const PATH = `/v1/nft-classes/${CLASS_ID}/instances`
const SCHEMA = { type: 'object' }
const METADATA = { weight: 1.5, colour: 'red' }
const BODY = {
  signature: 'c2ln',
  class_id: CLASS_ID,
  metadata: METADATA,
  instance_id: 'ruby:1@x',
  account_id: 'issuer@bank',
  idempotency_key: 'once',
}
const PAYLOAD =
  `{"account_id":"issuer@bank","class_id":"${CLASS_ID}","idempotency_key":"once","instance_id":"ruby:1@x",` +
  '"metadata":{"colour":"red","weight":1.5}}'
const SHOWN = {
  class_id: CLASS_ID,
  instance_id: 'ruby:1@x',
  owner: 'issuer@bank',
  status: 'active',
  metadata: METADATA,
  minted_at: '2025-10-09T08:53:20.000Z',
}
const MINTED = {
  kind: 'minted',
  txnId: 'txn_01K6ZZZZZZ0000000000000000',
  payloadHash: 'ab'.repeat(32),
  replayed: false,
  mismatch: false,
  instance: {
    classId: CLASS_ID,
    instanceId: 'ruby:1@x',
    owner: 'issuer@bank',
    status: 'active',
    metadata: METADATA,
    mintedAtMs: 1_760_000_000_000,
  },
} as const

/** An edge that knows the class and its issuer. `signed`: whether the issuer's key verifies. */
function answering(answer: Answer = MINTED, signed = true) {
  const verifyMany = (checks: readonly unknown[]) => Promise.resolve(checks.map(() => signed))
  const edge = createEdgeFixture({ signatures: { verifyMany } })
  const key = { keyId: 'key-1', publicKey: 'public-1' }
  edge.reads.accountViews.set('issuer@bank', accountView('issuer@bank', { key }))
  edge.gateway.outcome = { kind: 'answered', answer }
  edge.reads.classViews.set(CLASS_ID, {
    classId: CLASS_ID,
    name: 'Gems',
    description: '',
    issuer: 'issuer@bank',
    metadataSchema: SCHEMA,
    createdAtMs: 1_760_000_000_000,
  })
  return edge
}

/** An object of exactly so many bytes as canonical JSON. */
function metadataOf(bytes: number, filler = 'x') {
  const around = Buffer.byteLength(JSON.stringify({ a: '' }))
  return { a: filler.repeat((bytes - around) / Buffer.byteLength(filler)) }
}

describe('POST /v1/nft-classes/{classId}/instances', () => {
  const verdictsOf = (edge: ReturnType<typeof answering>) =>
    edge.gateway.asked.map(({ operation }) => operation.kind === 'mint' && operation.metadataVerdict)

  test.for([
    ['by whom the class is not', true, true, 'another@bank'],
    ['that the key of the issuer did not sign', false, true, 'issuer@bank'],
    ['of an issuer without a key', true, false, 'issuer@bank'],
  ] as const)('a mint %s costs no judging: the ledger says what it is', async ([, signed, keyed, accountId]) => {
    const edge = answering(MINTED, signed)
    const key = keyed ? { keyId: 'key-1', publicKey: 'public-1' } : null
    edge.reads.accountViews.set(accountId, accountView(accountId, { key }))
    await edge.post(PATH, { ...BODY, account_id: accountId }, await edge.tokenFor('transactor'))
    expect(edge.schemas.validated).toEqual([])
    expect(verdictsOf(edge)).toEqual(['unchecked'])
  })

  test('what the ledger finds signed after all is judged, and asked again', async () => {
    const edge = answering({ kind: 'refused', code: 'metadata_unchecked', detail: 'No.', field: 'metadata' }, false)
    await edge.post(PATH, BODY, await edge.tokenFor('transactor'))
    expect(edge.schemas.validated).toHaveLength(1)
    expect(verdictsOf(edge)).toEqual(['unchecked', 'valid'])
  })

  test('D6: a mint is 201, and what is asked of the account is exactly what it signed', async () => {
    const edge = answering()
    const created = await edge.post(PATH, BODY, await edge.tokenFor('transactor'))
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/v1/nft-classes/${CLASS_ID}/instances/ruby%3A1%40x`)
    for (const name of ['idempotency-replayed', 'idempotency-payload-mismatch']) {
      expect(created.headers.get(name)).toBeNull()
    }
    expect(await bodyOf(created)).toEqual(SHOWN)
    expect(edge.schemas.validated).toEqual([{ schema: SCHEMA, value: METADATA }])
    expect(edge.gateway.asked).toEqual([
      {
        actor: accountAddress('issuer@bank'),
        caller: { clientId: 'client-transactor', role: 'transactor', boundary: true },
        operation: { kind: 'mint', payload: PAYLOAD, signature: 'c2ln', metadataVerdict: 'valid' },
      },
    ])
  })

  test('its Location is where it is read', async () => {
    const edge = answering()
    edge.reads.instanceViews.set(`${CLASS_ID}/ruby:1@x`, MINTED.instance)
    const token = await edge.tokenFor('transactor')
    const { headers } = await edge.post(PATH, BODY, token)
    expect(await bodyOf(await edge.get(headers.get('location') ?? '', token))).toEqual(SHOWN)
  })

  test.for([
    [{ replayed: true, mismatch: false }, 'true', null],
    [{ replayed: true, mismatch: true }, 'true', 'true'],
    [{ replayed: false, mismatch: true }, null, null],
  ] as const)('D7: with %j it is 201 and says so', async ([told, replayed, mismatch]) => {
    const edge = answering({ ...MINTED, ...told })
    const again = await edge.post(PATH, BODY, await edge.tokenFor('admin'))
    expect(again.status).toBe(201)
    expect(again.headers.get('idempotency-replayed')).toBe(replayed)
    expect(again.headers.get('idempotency-payload-mismatch')).toBe(mismatch)
    expect(await bodyOf(again)).toEqual(SHOWN)
  })

  test('D7: a repeat that differs is shown, and located, as what was minted then', async () => {
    const edge = answering({ ...MINTED, replayed: true, mismatch: true })
    const body = { ...BODY, instance_id: 'opal' }
    const again = await edge.post(PATH, body, await edge.tokenFor('transactor'))
    expect(again.headers.get('location')).toBe(`/v1/nft-classes/${CLASS_ID}/instances/ruby%3A1%40x`)
    expect(await bodyOf(again)).toMatchObject({ instance_id: 'ruby:1@x' })
  })

  test('all fields are signed for, and what is too long to be a signature is not carried', async () => {
    const edge = answering()
    const body = { ...BODY, owner: 'collector', ledger_id: 'ledger', signature: 'A'.repeat(1025) }
    await edge.post(PATH, body, await edge.tokenFor('transactor'))
    const { operation } = edge.gateway.asked[0] ?? {}
    if (operation?.kind !== 'mint') throw new Error('No mint was asked for.')
    expect(operation.signature).toBe('-')
    const { signature: _, ...signed } = body
    expect(JSON.parse(operation.payload)).toEqual(signed)
  })

  test('all that is wrong is told at once, and nothing is judged or asked', async () => {
    const edge = answering()
    const token = await edge.tokenFor('transactor')
    const body = {
      class_id: OTHER_ID,
      instance_id: 'a b',
      account_id: '..',
      owner: '',
      metadata: [],
      ledger_id: '',
      idempotency_key: '',
      signature: '',
      colour: 'red',
    }
    expect(await refusalOf(await edge.post(PATH, body, token))).toEqual({
      status: 400,
      codes: [
        'ERR_INVALID_FIELD',
        'ERR_INVALID_ACCOUNT_ID',
        'ERR_INVALID_IDEMPOTENCY_KEY',
        'ERR_INVALID_SIGNATURE',
        'ERR_UNKNOWN_FIELD',
        'ERR_INVALID_CLASS_ID',
      ],
      fields: [
        'instance_id',
        'account_id',
        'owner',
        'metadata',
        'ledger_id',
        'idempotency_key',
        'signature',
        'colour',
        'class_id',
      ],
    })
    expect(await refusalOf(await edge.post(PATH, {}, token))).toEqual({
      status: 400,
      codes: [
        'ERR_INVALID_CLASS_ID',
        'ERR_INVALID_FIELD',
        'ERR_INVALID_ACCOUNT_ID',
        'ERR_INVALID_IDEMPOTENCY_KEY',
        'ERR_INVALID_SIGNATURE',
      ],
      fields: ['class_id', 'instance_id', 'account_id', 'metadata', 'idempotency_key', 'signature'],
    })
    expect([edge.gateway.asked, edge.schemas.validated]).toEqual([[], []])
  })

  test.for<[Record<string, unknown>, string, string]>([
    [{ class_id: OTHER_ID }, 'class_id', 'ERR_INVALID_CLASS_ID'],
    [{ class_id: CLASS_ID.toLowerCase() }, 'class_id', 'ERR_INVALID_CLASS_ID'],
    [{ class_id: '' }, 'class_id', 'ERR_INVALID_CLASS_ID'],
    [{ class_id: 7 }, 'class_id', 'ERR_INVALID_CLASS_ID'],
    [{ instance_id: '' }, 'instance_id', 'ERR_INVALID_FIELD'],
    [{ instance_id: '..' }, 'instance_id', 'ERR_INVALID_FIELD'],
    [{ instance_id: 'a/b' }, 'instance_id', 'ERR_INVALID_FIELD'],
    [{ instance_id: 'é' }, 'instance_id', 'ERR_INVALID_FIELD'],
    [{ instance_id: 'x'.repeat(129) }, 'instance_id', 'ERR_INVALID_FIELD'],
    [{ instance_id: 7 }, 'instance_id', 'ERR_INVALID_FIELD'],
    [{ account_id: 'x'.repeat(129) }, 'account_id', 'ERR_INVALID_ACCOUNT_ID'],
    [{ account_id: '.' }, 'account_id', 'ERR_INVALID_ACCOUNT_ID'],
    [{ owner: 'a b' }, 'owner', 'ERR_INVALID_ACCOUNT_ID'],
    [{ owner: null }, 'owner', 'ERR_INVALID_ACCOUNT_ID'],
    [{ owner: 'x'.repeat(129) }, 'owner', 'ERR_INVALID_ACCOUNT_ID'],
    [{ metadata: null }, 'metadata', 'ERR_INVALID_FIELD'],
    [{ metadata: 'x' }, 'metadata', 'ERR_INVALID_FIELD'],
    [{ metadata: [] }, 'metadata', 'ERR_INVALID_FIELD'],
    [{ metadata: metadataOf(65_537) }, 'metadata', 'ERR_INVALID_FIELD'],
    [{ metadata: metadataOf(65_538, 'é') }, 'metadata', 'ERR_INVALID_FIELD'],
    [{ ledger_id: '' }, 'ledger_id', 'ERR_INVALID_FIELD'],
    [{ ledger_id: null }, 'ledger_id', 'ERR_INVALID_FIELD'],
    [{ ledger_id: 'x'.repeat(129) }, 'ledger_id', 'ERR_INVALID_FIELD'],
    [{ idempotency_key: 'x'.repeat(256) }, 'idempotency_key', 'ERR_INVALID_IDEMPOTENCY_KEY'],
    [{ idempotency_key: 'é' }, 'idempotency_key', 'ERR_INVALID_IDEMPOTENCY_KEY'],
    [{ idempotency_key: null }, 'idempotency_key', 'ERR_INVALID_IDEMPOTENCY_KEY'],
    [{ signature: '' }, 'signature', 'ERR_INVALID_SIGNATURE'],
    [{ signature: 7 }, 'signature', 'ERR_INVALID_SIGNATURE'],
    [{ amount: '1' }, 'amount', 'ERR_UNKNOWN_FIELD'],
    [{ expires_at: '2030-01-01T00:00:00Z' }, 'expires_at', 'ERR_UNKNOWN_FIELD'],
    [{ Metadata: {} }, 'Metadata', 'ERR_UNKNOWN_FIELD'],
  ])('%.100j is 400', async ([change, field, code]) => {
    const edge = answering()
    const response = await edge.post(PATH, { ...BODY, ...change }, await edge.tokenFor('transactor'))
    expect(await refusalOf(response)).toEqual({ status: 400, codes: [code], fields: [field] })
    expect(edge.gateway.asked).toEqual([])
  })

  test.for<Record<string, unknown>>([
    { instance_id: 'x' },
    { instance_id: 'x'.repeat(128) },
    { instance_id: '...' },
    { owner: 'x'.repeat(128) },
    { owner: 'issuer@bank' },
    { account_id: 'x'.repeat(128) },
    { metadata: {} },
    { metadata: metadataOf(65_536) },
    { metadata: metadataOf(65_536, 'é') },
    { ledger_id: 'x' },
    { ledger_id: '\u{1f48e}'.repeat(128) },
    { idempotency_key: 'x'.repeat(255) },
    { idempotency_key: ' ' },
    { signature: '?' },
  ])('%.100j goes to the ledger', async (change) => {
    const edge = answering()
    const response = await edge.post(PATH, { ...BODY, ...change }, await edge.tokenFor('admin'))
    expect([response.status, edge.gateway.asked.length]).toEqual([201, 1])
  })

  test('the size of metadata is what its canonical form has, not what was sent', async () => {
    const edge = answering()
    const token = await edge.tokenFor('transactor')
    const { metadata: _, ...rest } = BODY
    const spaced = JSON.stringify(rest).replace(/}$/, `,"metadata":{${' '.repeat(80_000)}}}`)
    expect((await edge.post(PATH, spaced, token)).status).toBe(201)
    const escaped = JSON.stringify({ ...rest, metadata: metadataOf(65_536) }).replaceAll('x', '\\u0078')
    expect((await edge.post(PATH, escaped, token)).status).toBe(201)
  })

  test('D1: what can be no class is 404 in the path; one that nobody knows is the ledger’s to say, in its order', async () => {
    const edge = answering({ kind: 'refused', code: 'signature_mismatch', detail: 'No.', field: 'signature' })
    const token = await edge.tokenFor('transactor')
    for (const classId of ['gems', CLASS_ID.toLowerCase(), 'cls_1']) {
      const path = `/v1/nft-classes/${classId}/instances`
      expect((await edge.post(path, { ...BODY, class_id: classId }, token)).status).toBe(404)
    }
    expect(edge.gateway.asked).toEqual([])
    const path = `/v1/nft-classes/${OTHER_ID}/instances`
    const response = await edge.post(path, { ...BODY, class_id: OTHER_ID }, token)
    expect(await refusalOf(response)).toMatchObject({ status: 403, codes: ['ERR_SIGNATURE_MISMATCH'] })
    expect(edge.gateway.asked[0]?.operation).toMatchObject({ metadataVerdict: 'unchecked' })
    expect(edge.schemas.validated).toEqual([])
  })

  test('D11: metadata that does not fit is told with a path per error, once the ledger says that it is time', async () => {
    const edge = answering({ kind: 'refused', code: 'metadata_invalid', detail: 'No.', field: 'metadata' })
    const errors = [
      { path: 'colour', message: 'must be a string' },
      { path: 'parts[0].weight', message: 'must be at least 0' },
      { path: '[0]', message: 'is one too many' },
      { path: '', message: 'must have required property "name"' },
    ]
    edge.schemas.valueVerdict = { kind: 'invalid', errors }
    const response = await edge.post(PATH, BODY, await edge.tokenFor('transactor'))
    expect(await bodyOf(response)).toMatchObject({
      status: 400,
      type: expect.stringMatching(/\/validation-error$/) as string,
      error_codes: ['ERR_INVALID_FIELD'],
      errors: [
        { field: 'metadata.colour', message: 'must be a string' },
        { field: 'metadata.parts[0].weight', message: 'must be at least 0' },
        { field: 'metadata[0]', message: 'is one too many' },
        { field: 'metadata', message: 'must have required property "name"' },
      ],
    })
    expect(edge.gateway.asked[0]?.operation).toMatchObject({ metadataVerdict: 'invalid' })
  })

  test.for([
    ['account_not_found', 404, 'ERR_NOT_FOUND', 'account_id'],
    ['account_keyless', 403, 'ERR_FORBIDDEN', null],
    ['signature_mismatch', 403, 'ERR_SIGNATURE_MISMATCH', 'signature'],
    ['wrong_ledger', 400, 'ERR_WRONG_LEDGER', 'ledger_id'],
    ['class_not_found', 404, 'ERR_NOT_FOUND', 'class_id'],
    ['not_issuer', 403, 'ERR_NOT_ISSUER', null],
    ['metadata_invalid', 400, 'ERR_INVALID_FIELD', 'metadata'],
    ['owner_not_found', 404, 'ERR_NOT_FOUND', 'owner'],
    ['account_not_active', 409, 'ERR_CONFLICT', null],
    ['pending_limit', 409, 'ERR_CONFLICT', null],
    ['instance_exists', 409, 'ERR_CONFLICT', 'instance_id'],
    ['account_refuses', 409, 'ERR_CONFLICT', 'owner'],
    ['account_closed', 409, 'ERR_CONFLICT', 'owner'],
    ['asset_limit', 409, 'ERR_CONFLICT', 'owner'],
  ] as const)('a refusal with %s is %i', async ([code, status, errorCode, field]) => {
    const edge = answering({ kind: 'refused', code, detail: 'No.', field })
    // What a schema says is told when the ledger asks for it, and not otherwise.
    if (code !== 'metadata_invalid')
      edge.schemas.valueVerdict = { kind: 'invalid', errors: [{ path: 'a', message: 'b' }] }
    const response = await edge.post(PATH, BODY, await edge.tokenFor('transactor'))
    const fields = field === null ? undefined : [field]
    expect(await refusalOf(response)).toEqual({ status, codes: [errorCode], fields })
  })

  test('D8: where no metadata can be judged for now it is 503 `not_applied`: nothing was asked', async () => {
    const edge = answering()
    edge.schemas.valueVerdict = { kind: 'overloaded' }
    const response = await edge.post(PATH, BODY, await edge.tokenFor('transactor'))
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await bodyOf(response)).toMatchObject({
      status: 503,
      error_codes: ['ERR_OVERLOADED'],
      outcome: 'not_applied',
    })
    expect(edge.gateway.asked).toEqual([])
  })

  test('D8: reads or a shard that are away, or an answer to another question, are 503 with the outcome', async () => {
    const edge = answering()
    const token = await edge.tokenFor('transactor')
    edge.gateway.outcome = { kind: 'unavailable', reason: 'shard_unavailable', outcome: 'unknown' }
    expect(await bodyOf(await edge.post(PATH, BODY, token))).toMatchObject({ status: 503, outcome: 'unknown' })
    edge.gateway.outcome = { kind: 'unavailable', reason: 'overloaded', outcome: 'not_applied' }
    expect(await bodyOf(await edge.post(PATH, BODY, token))).toMatchObject({ status: 503, outcome: 'not_applied' })
    edge.gateway.outcome = { kind: 'answered', answer: { kind: 'status_changed', account: {} as never } }
    expect(await bodyOf(await edge.post(PATH, BODY, token))).toMatchObject({ status: 503, outcome: 'unknown' })
    edge.reads.failure = new Error('away')
    expect(await bodyOf(await edge.post(PATH, BODY, token))).toMatchObject({ status: 503, outcome: 'unknown' })
  })

  test('D7: token, role, content type and text are judged before the shape', async () => {
    const edge = answering()
    const text = { 'content-type': 'text/plain' }
    expect((await edge.post(PATH, '{', undefined, text)).status).toBe(401)
    expect((await edge.post(PATH, '{', await edge.tokenFor('viewer'), text)).status).toBe(403)
    expect((await edge.post(PATH, '{', await edge.tokenFor('transactor'), text)).status).toBe(415)
    expect((await edge.post(PATH, '{', await edge.tokenFor('transactor'))).status).toBe(400)
  })

  test('D6: a body that says something twice, or deeper than 32, is none', async () => {
    const edge = answering()
    const token = await edge.tokenFor('transactor')
    const twice = JSON.stringify(BODY).replace('"metadata":', '"metadata":{"a":1},"metadata":')
    const deep = JSON.stringify({ ...BODY, metadata: { a: 0 } }).replace('0}', `${'['.repeat(31)}${']'.repeat(31)}}`)
    for (const text of [twice, deep]) {
      expect(await refusalOf(await edge.post(PATH, text, token))).toMatchObject({ status: 400 })
    }
    expect(edge.gateway.asked).toEqual([])
  })
})
