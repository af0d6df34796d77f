/**
 * The body of a POST, from bytes to a JSON object, judged in the order of D7: size (413), content type (415), text (400).
 *   B1. 1,048,576 bytes pass, one more does not, whether the length was announced or not.
 *   B2. No more than the limit is ever held in memory. Of what is too large a bounded rest is read and dropped, so that
 *       a client that writes before it reads gets the 413 and no broken connection.
 *   B3. The cost of reading a body is bounded by the number of its parts, too (J3): one legal megabyte must not delay others.
 *   B4. A client that waits for 100 (Continue) gets a refusal that its headers decide before the edge requests the body
 *       (RFC 9110, 10.1.1). Reading the body sends the 100.
 */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { type JsonBounds, type JsonFault, parseJson } from './json-text.ts'
import { invalidProblem, type Problem, problem } from './problem.ts'
import { FIELD_CODES, fieldPath } from './invalid.ts'

export const MAX_BODY_BYTES = 1_048_576
/** Opening brackets, colons and commas of a body: more than 500 orders with all their fields have; 30 ms to read. */
const MAX_PARTS = 50_000
/** Of a body that is too large, dropped unread beyond this. */
const MAX_DROPPED_BYTES = 8 * MAX_BODY_BYTES

const JSON_TYPE = /^[ \t]*application\/json[ \t]*(?:;|$)/i

export async function readJsonBody(request: Request, bounds?: JsonBounds): Promise<Result<JsonObject, Problem>> {
  const read = await readAnyJsonBody(request, bounds)
  if (!read.ok) return read
  const { body, inexact } = read.value
  return inexact === undefined ? ok(body) : refuse(faultProblem(inexact))
}

export interface AnyJsonBody {
  readonly body: JsonObject
  /** The first number that reading changed. */
  readonly inexact: JsonFault | undefined
}

/** For endpoints that store no number of the body: they handle inexact numbers themselves. */
export async function readAnyJsonBody(
  request: Request,
  bounds: JsonBounds = {},
): Promise<Result<AnyJsonBody, Problem>> {
  const bytes = await readTyped(request)
  if (!bytes.ok) return bytes
  return readJsonObject(bytes.value, { maxParts: MAX_PARTS, ...bounds })
}

/** Checks size and content type alone, for a request whose refusal ranks after them (D7). */
export async function checkBody(request: Request): Promise<Problem | undefined> {
  if (!mayHaveBody(request)) return undefined
  const bytes = await readTyped(request)
  return bytes.ok ? undefined : bytes.error
}

async function readTyped(request: Request): Promise<Result<Uint8Array, Problem>> {
  const { headers } = request
  const refusedType = checkMediaType(headers)
  if (awaitsContinue(request)) {
    const length = Number(headers.get('content-length') ?? '0')
    if (length > MAX_BODY_BYTES) return refuse(tooLarge())
    if (refusedType !== undefined) return refuse(refusedType)
  }
  const bytes = await readBytes(request)
  return bytes.ok && refusedType !== undefined ? refuse(refusedType) : bytes
}

async function readBytes(request: Request): Promise<Result<Uint8Array, Problem>> {
  const announced = request.headers.get('content-length')
  try {
    // The HTTP parser holds a body to its announced length.
    const bytes =
      announced !== null && Number(announced) <= MAX_BODY_BYTES
        ? new Uint8Array(await request.arrayBuffer())
        : await readStream(request.body)
    return bytes === undefined || bytes.length > MAX_BODY_BYTES ? refuse(tooLarge()) : ok(bytes)
  } catch {
    return refuse(unreadable('The body could not be read to its end.'))
  }
}

/**
 * Reads the rest of the body of a refused request and drops it (B2). False if the body is not read because the client
 * waits for 100 (Continue) before it sends it (B4). Never rejects.
 */
export async function dropBody(request: Request): Promise<boolean> {
  if (!mayHaveBody(request) || request.bodyUsed) return true
  if (awaitsContinue(request)) return false
  try {
    await readStream(request.body)
  } catch {
    // The client disconnected.
  }
  return true
}

function awaitsContinue({ headers }: Request): boolean {
  return headers.get('expect')?.trim().toLowerCase() === '100-continue'
}

function mayHaveBody({ method }: Request): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

/** Undefined when there is more than the limit. */
async function readStream(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array | undefined> {
  if (body === null) return new Uint8Array()
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    sizeBytes += value.length
    if (sizeBytes <= MAX_BODY_BYTES) chunks.push(value)
    else chunks.length = 0
    if (sizeBytes > MAX_DROPPED_BYTES) {
      await reader.cancel()
      break
    }
  }
  return sizeBytes > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks)
}

function checkMediaType(headers: Headers): Problem | undefined {
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity') {
    return unsupported('A body with a content encoding is not taken.')
  }
  const type = headers.get('content-type')
  return type !== null && JSON_TYPE.test(type) ? undefined : unsupported('Content-Type must be application/json.')
}

function readJsonObject(bytes: Uint8Array, bounds: JsonBounds): Result<AnyJsonBody, Problem> {
  if (bytes.length === 0) return refuse(unreadable('The body is empty.'))
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return refuse(unreadable('The body is not UTF-8.'))
  }
  const parsed = parseJson(text, bounds)
  if (!parsed.ok) return refuse(faultProblem(parsed.error))
  const { value, inexact } = parsed.value
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return refuse(
      invalidProblem('validation-error', [
        { field: 'body', code: 'ERR_INVALID_FIELD', message: 'must be a JSON object' },
      ]),
    )
  }
  return ok({ body: value as JsonObject, inexact })
}

/** An inexact number has a field; any other fault concerns the whole text. */
function faultProblem({ message, keys }: JsonFault): Problem {
  if (keys.length === 0) return unreadable(message)
  const code = FIELD_CODES.get(String(keys[0])) ?? 'ERR_INVALID_FIELD'
  return invalidProblem('validation-error', [{ field: fieldPath(keys), code, message }])
}

function unreadable(message: string): Problem {
  return problem('invalid-request', 'ERR_INVALID_FIELD', message, [{ field: 'body', message }])
}

/** The unread rest of the body would precede the next request: close the connection. */
function tooLarge(): Problem {
  const detail = `The body is larger than ${MAX_BODY_BYTES} bytes.`
  return { ...problem('payload-too-large', 'ERR_PAYLOAD_TOO_LARGE', detail), headers: { connection: 'close' } }
}

function unsupported(detail: string): Problem {
  return problem('unsupported-media-type', 'ERR_UNSUPPORTED_CONTENT_TYPE', detail)
}
