/**
 * The body of a POST, from bytes to a JSON object, judged in the order of D7: size (413), content type (415), text (400).
 *   B1. 1,048,576 bytes pass, one more does not, whether the length was announced or not.
 *   B2. No more than the limit is ever held in memory. Of what is too large a bounded rest is read and dropped, so that
 *       a client that writes before it reads gets the 413 and no broken connection.
 *   B3. What a body costs to read is bounded by its parts, too (J3): a legal megabyte must not hold up everyone else.
 */
import { type JsonObject, MAX_JSON_DEPTH } from '../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../actors/result.ts'
import { parseStrictJson } from './json-text.ts'
import { invalidProblem, type Problem, problem } from './problem.ts'

export const MAX_BODY_BYTES = 1_048_576
/** Opening brackets, colons and commas of a body: more than 500 orders with all their fields have; 30 ms to read. */
const MAX_PARTS = 50_000
/** Of a body that is too large, dropped unread beyond this. */
const MAX_DROPPED_BYTES = 8 * MAX_BODY_BYTES

const JSON_TYPE = /^[ \t]*application\/json[ \t]*(?:;|$)/i

/** `maxParts`: how many brackets, colons and commas the text may have; `maxDepth`: how deep it may nest. */
export async function readJsonBody(
  request: Request,
  maxParts = MAX_PARTS,
  maxDepth = MAX_JSON_DEPTH,
): Promise<Result<JsonObject, Problem>> {
  const bytes = await readBytes(request)
  if (!bytes.ok) return bytes
  const declared = checkMediaType(request.headers)
  if (declared !== undefined) return refuse(declared)
  return readJsonObject(bytes.value, maxParts, maxDepth)
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
 * Reads what is left of the body of a request that was refused before its body was looked at, and drops it (B2).
 * Never rejects.
 */
export async function dropBody(request: Request): Promise<void> {
  if (request.method === 'GET' || request.method === 'HEAD' || request.bodyUsed) return
  try {
    await readStream(request.body)
  } catch {
    // The client is gone, and with it whoever the answer was for.
  }
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

function readJsonObject(bytes: Uint8Array, maxParts: number, maxDepth: number): Result<JsonObject, Problem> {
  if (bytes.length === 0) return refuse(unreadable('The body is empty.'))
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return refuse(unreadable('The body is not UTF-8.'))
  }
  const parsed = parseStrictJson(text, maxParts, maxDepth)
  if (!parsed.ok) return refuse(unreadable(parsed.error))
  const { value } = parsed
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return refuse(
      invalidProblem('validation-error', [
        { field: 'body', code: 'ERR_INVALID_FIELD', message: 'must be a JSON object' },
      ]),
    )
  }
  return ok(value as JsonObject)
}

function unreadable(message: string): Problem {
  return problem('invalid-request', 'ERR_INVALID_FIELD', message, [{ field: 'body', message }])
}

/** What was not read of the body stands in the way of the next request: this connection takes none. */
function tooLarge(): Problem {
  const detail = `The body is larger than ${MAX_BODY_BYTES} bytes.`
  return { ...problem('payload-too-large', 'ERR_PAYLOAD_TOO_LARGE', detail), headers: { connection: 'close' } }
}

function unsupported(detail: string): Problem {
  return problem('unsupported-media-type', 'ERR_UNSUPPORTED_CONTENT_TYPE', detail)
}
