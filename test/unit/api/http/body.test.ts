import { expect, test } from 'vitest'
import { MAX_BODY_BYTES, readJsonBody } from '../../../../api/http/body.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

function request(
  body: string | Uint8Array | ReadableStream | null,
  headers: Record<string, string> = JSON_TYPE,
): Request {
  return new Request('http://localhost/', { method: 'POST', headers, body, duplex: 'half' })
}

/** JSON of exactly this many bytes. */
function sized(bytes: number): string {
  return `{"a":"${'x'.repeat(bytes - 8)}"}`
}

/** The text in chunks, without a Content-Length. */
function chunked(text: string, pieceBytes = 65_536): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  let sent = 0
  return new ReadableStream({
    pull(controller) {
      if (sent >= bytes.length) controller.close()
      else controller.enqueue(bytes.subarray(sent, (sent += pieceBytes)))
    },
  })
}

async function refusal(asked: Request): Promise<string | undefined> {
  const read = await readJsonBody(asked)
  return read.ok ? undefined : read.error.type
}

test('B1: 1,048,576 bytes are accepted and one more is not, with or without Content-Length', async () => {
  const announced = (bytes: number) => ({ ...JSON_TYPE, 'content-length': String(bytes) })
  expect(await refusal(request(sized(MAX_BODY_BYTES), announced(MAX_BODY_BYTES)))).toBeUndefined()
  expect(await refusal(request(chunked(sized(MAX_BODY_BYTES))))).toBeUndefined()
  expect(await refusal(request(sized(MAX_BODY_BYTES + 1), announced(MAX_BODY_BYTES + 1)))).toBe('payload-too-large')
  expect(await refusal(request(chunked(sized(MAX_BODY_BYTES + 1))))).toBe('payload-too-large')
})

test('B4: the announced size decides alone for a client that waits for 100 (Continue)', async () => {
  const waiting = (bytes: number) => ({ ...JSON_TYPE, expect: '100-continue', 'content-length': String(bytes) })
  expect(await refusal(request(sized(MAX_BODY_BYTES), waiting(MAX_BODY_BYTES)))).toBeUndefined()
  expect(await refusal(request('{}', waiting(MAX_BODY_BYTES + 1)))).toBe('payload-too-large')
})

test('B2: the edge cancels an endless body after a bounded number of bytes', async () => {
  let sentBytes = 0
  let cancelled = false
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sentBytes += 65_536
      controller.enqueue(new Uint8Array(65_536))
    },
    cancel() {
      cancelled = true
    },
  })
  expect(await refusal(request(endless))).toBe('payload-too-large')
  expect(cancelled).toBe(true)
  expect(sentBytes).toBeLessThan(10 * MAX_BODY_BYTES)
})

test.for(['application/json', 'APPLICATION/JSON', 'application/json; charset=latin1', 'application/json;x'])(
  'Content-Type %s is accepted',
  async (type) => {
    expect(await refusal(request('{}', { 'content-type': type }))).toBeUndefined()
  },
)

test.for(['text/json', 'application/vnd.api+json', 'application/jsonx', 'application/json, text/html', ''])(
  'Content-Type %j is 415',
  async (type) => {
    expect(await refusal(request('{}', { 'content-type': type }))).toBe('unsupported-media-type')
  },
)

test('a content encoding other than identity is 415', async () => {
  expect(await refusal(request('{}', { ...JSON_TYPE, 'content-encoding': 'gzip' }))).toBe('unsupported-media-type')
  expect(await refusal(request('{}', { ...JSON_TYPE, 'content-encoding': 'Identity' }))).toBeUndefined()
})

test('a body without a content type is 415, and an empty JSON body is 400', async () => {
  expect(await refusal(request(new Uint8Array([123, 125]), {}))).toBe('unsupported-media-type')
  expect(await refusal(request(null))).toBe('invalid-request')
  expect(await refusal(request(''))).toBe('invalid-request')
})

test('invalid UTF-8 and malformed JSON are 400; JSON other than an object is a validation error', async () => {
  for (const bytes of [[0xff], [0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) {
    const text = new Uint8Array([0x7b, 0x22, ...bytes, 0x22, 0x3a, 0x31, 0x7d])
    expect([bytes, await refusal(request(text))]).toEqual([bytes, 'invalid-request'])
  }
  expect(await refusal(request('{"a":}'))).toBe('invalid-request')
  expect(await refusal(request('\ufeff{}'))).toBe('invalid-request')
  for (const text of ['[]', 'null', '"x"', '1']) expect(await refusal(request(text))).toBe('validation-error')
})

test('an interrupted body is 400', async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.error(new Error('gone'))
    },
  })
  expect(await refusal(request(broken))).toBe('invalid-request')
})

test('J3: a body of more than 25,000 members is 400, and a route may set another limit', async () => {
  const members = (count: number): string =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, 0])))
  const read = await readJsonBody(request(members(25_001)))
  expect(read).toMatchObject({ ok: false, error: { type: 'invalid-request', codes: ['ERR_INVALID_FIELD'] } })
  expect(await refusal(request(members(25_000)))).toBeUndefined()
  expect((await readJsonBody(request(members(3)), { maxParts: 6 })).ok).toBe(true)
  expect((await readJsonBody(request(members(3)), { maxParts: 5 })).ok).toBe(false)
})

test.for([
  [
    '{"metadata_schema":{"properties":{"a":{"const":12345678901234567890}}}}',
    'ERR_INVALID_SCHEMA',
    'metadata_schema.properties.a.const',
  ],
  ['{"metadata":{"weight":0.1234567890123456789}}', 'ERR_INVALID_FIELD', 'metadata.weight'],
  ['{"records":[{"metadata":[9007199254740993]}]}', 'ERR_INVALID_FIELD', 'records[0].metadata[0]'],
  ['{"amount":100000000000000000000000000000000000001}', 'ERR_INVALID_AMOUNT', 'amount'],
] as const)('a number that a double cannot hold is refused with its field: %s', async ([text, code, field]) => {
  const read = await readJsonBody(request(text))
  expect(read).toMatchObject({
    ok: false,
    error: { type: 'validation-error', codes: [code], errors: [{ field }] },
  })
})
