/**
 * Sends the examples of the OpenAPI document to a running ledger in the document's order. Requests and expected replies
 * come from the document alone; a payload that contains the ledger's own IDs is signed again.
 */
import { sign, verify } from 'node:crypto'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import type { Example } from '../../../api/openapi/examples.ts'
import type { OpenApiDocument } from '../../../api/openapi/openapi-types.ts'
import type { HttpReply, HttpRequest } from '../../support/client/client.ts'
import { canonical } from '../../support/client/client-keys.ts'
import { type DocumentedInterface, type DocumentedOperation, linesOf } from '../../support/documented-interface.ts'
import { EXAMPLE_KEYS } from '../../support/example-keys.ts'
import { Bindings } from './bindings.ts'

export type WalkStep = OpenApiDocument['x-walkthrough'][number]

export interface ExampleRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject | null
}

interface ExampleAnswer {
  readonly status: number
  readonly mediaType: string
  readonly value: Json
}

const LINES = 'application/x-ndjson'

const SIGNATURES = ['signature', 'proof'] as const

export class ExampleWalk {
  /** A line for each difference from the document. */
  readonly faults: string[] = []
  private readonly bindings = new Bindings()
  private readonly ask: (what: HttpRequest) => Promise<HttpReply>
  private readonly described: DocumentedInterface
  private readonly tokenOf: (role: string) => string

  constructor(
    ask: (what: HttpRequest) => Promise<HttpReply>,
    described: DocumentedInterface,
    tokenOf: (role: string) => string,
  ) {
    this.ask = ask
    this.described = described
    this.tokenOf = tokenOf
  }

  async take({ operationId, example, role }: WalkStep): Promise<void> {
    const operation = this.described.byId(operationId)
    const expected = answerOf(operation, example)
    const request = this.bound(requestOf(operation, example, expected.mediaType))
    const reply = await this.send(operation.method, request, role)
    const differences =
      reply.status === expected.status
        ? this.bindings.differences(
            inOneOrder(operationId, expected.value),
            inOneOrder(operationId, contentOf(reply.body, expected)),
          )
        : [`${reply.status} where the example has ${expected.status}: ${reply.body.slice(0, 400)}`]
    for (const difference of differences) this.faults.push(`${operationId} ${example}: ${difference}`)
  }

  /**
   * Sends the example's request. Returns the example as this ledger saw and answered it: hashes and signatures of other
   * ledgers would prove nothing beside its values. Tokens keep the recorded text.
   */
  async record(example: Example): Promise<Example> {
    const { answer, headers = {}, name } = example
    const operation = this.described.byId(example.operation)
    const mediaType = answer?.lines === undefined && headers['Accept'] !== LINES ? 'application/json' : LINES
    const request = this.bound(requestOf(operation, name, mediaType))
    const { status, body } = await this.send(operation.method, request, example.as)
    const actual = contentOf(body, { mediaType })
    const recorded = mediaType === LINES ? answer?.lines : answer?.body
    // Binds the values that later requests name.
    if (recorded !== undefined) {
      this.bindings.differences(inOneOrder(example.operation, recorded), inOneOrder(example.operation, actual))
    }
    const { path, query } = example
    return {
      ...example,
      ...(path === undefined ? {} : { path: this.bindings.apply(path) }),
      ...(query === undefined ? {} : { query: this.bindings.apply(query) }),
      ...(request.body === null ? {} : { body: request.body }),
      answer:
        mediaType === LINES
          ? { status, lines: actual as readonly JsonObject[] }
          : { status, body: actual as JsonObject },
    }
  }

  /** The text with the recorded tokens in place of this ledger's. */
  withoutTokens(text: string): string {
    return this.bindings.withoutTokens(text)
  }

  /** The request of the operation's first example, after the walk. */
  sample(operation: DocumentedOperation): ExampleRequest {
    const contents = Object.values(operation.members.responses).flatMap(({ content = {} }) => Object.values(content))
    const [example] = contents.flatMap(({ examples = {} }) => Object.keys(examples))
    if (example === undefined) {
      const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => WITHOUT_EXAMPLE[name] ?? name)
      return { path: this.bindings.text(path), headers: {}, body: null }
    }
    return this.bound(requestOf(operation, example, answerOf(operation, example).mediaType))
  }

  private bound({ path, headers, body }: ExampleRequest): ExampleRequest {
    return { path: this.bindings.text(path), headers, body: body === null ? null : this.boundBody(body) }
  }

  private boundBody(body: JsonObject): JsonObject {
    const { expires_at: expiresAt } = body
    if (typeof expiresAt === 'string') this.bindings.bindExpiry(expiresAt)
    const bound = this.bindings.apply(body)
    if (canonical(bound) === canonical(body)) return body
    const [before, after] = [payloadOf(body), payloadOf(bound)]
    return { ...bound, ...signaturesOf(body, before, after) }
  }

  private send(method: string, { path, headers, body }: ExampleRequest, role: string | null): Promise<HttpReply> {
    const token = role === null ? {} : { authorization: `Bearer ${this.tokenOf(role)}` }
    const typed = body === null ? {} : { 'content-type': 'application/json' }
    return this.ask({
      method,
      path,
      headers: { ...token, ...typed, ...headers },
      ...(body === null ? {} : { body: JSON.stringify(body) }),
    })
  }
}

/** Values in the paths of operations that respond with other than JSON. */
const WITHOUT_EXAMPLE: Readonly<Record<string, string>> = {
  slug: 'conflict',
  accountId: 'alice@example',
  sequence: '0',
  level: '0',
  tile: '000',
}

/** The order of accounts differs between ledgers. */
function inOneOrder(operationId: string, value: Json): Json {
  if (operationId !== 'listAccounts') return value
  const { accounts, ...rest } = value as { readonly accounts: readonly { readonly account_id: string }[] }
  const sorted = accounts.toSorted((left, right) => (left.account_id < right.account_id ? -1 : 1))
  return { ...rest, accounts: sorted }
}

/** The bytes that a signature of the body covers. */
function payloadOf(body: JsonObject): Buffer {
  const { signature: _, proof: __, ...payload } = body
  return Buffer.from(canonical(payload))
}

/** The key that signed the example's payload signs the request; other signatures stay unchanged. */
function signaturesOf(body: JsonObject, before: Buffer, after: Buffer): JsonObject {
  const made = SIGNATURES.flatMap((name) => {
    const given = body[name]
    if (typeof given !== 'string') return []
    const signer = EXAMPLE_KEYS.find((key) =>
      verify('sha256', before, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(given, 'base64url')),
    )
    if (signer === undefined) return []
    const fresh = sign('sha256', after, { key: signer, dsaEncoding: 'ieee-p1363' })
    return [[name, fresh.toString('base64url')] as const]
  })
  return Object.fromEntries(made)
}

function requestOf({ path, members }: DocumentedOperation, example: string, mediaType: string): ExampleRequest {
  let target = path
  const query: string[] = []
  const headers: Record<string, string> = mediaType === LINES ? { Accept: LINES } : {}
  for (const parameter of members.parameters ?? []) {
    const found = parameter.examples?.[example]?.value
    if (typeof found !== 'string' && typeof found !== 'number') continue
    const value = String(found)
    if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, value)
    else if (parameter.in === 'query') query.push(`${parameter.name}=${encodeURIComponent(value)}`)
    else headers[parameter.name] = value
  }
  const body = members.requestBody?.content['application/json']?.examples?.[example]?.value
  return {
    path: query.length === 0 ? target : `${target}?${query.join('&')}`,
    headers,
    body: (body as JsonObject | undefined) ?? null,
  }
}

function answerOf({ id, members }: DocumentedOperation, example: string): ExampleAnswer {
  for (const [status, { content = {} }] of Object.entries(members.responses)) {
    for (const [mediaType, { examples = {} }] of Object.entries(content)) {
      const { [example]: found } = examples
      if (found === undefined) continue
      const value = typeof found.value === 'string' ? linesOf(found.value) : found.value
      return { status: Number(status), mediaType, value }
    }
  }
  throw new Error(`the example ${example} of ${id} has no answer`)
}

/** The reply, in the form of the example. */
function contentOf(body: string, { mediaType }: Pick<ExampleAnswer, 'mediaType'>): Json {
  return mediaType === LINES ? linesOf(body) : (JSON.parse(body) as Json)
}
