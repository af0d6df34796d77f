/**
 * Compares answers with the OpenAPI document. Objects of answers may have no member that the
 * document does not know: a client must ignore what it does not know, and a test must not.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import type { OpenApiDocument, OperationObject } from '../../api/openapi/openapi-types.ts'

export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
}

export interface DocumentedOperation {
  readonly id: string
  readonly method: string
  /** As the document has it: `/v1/accounts/{accountId}`. */
  readonly path: string
  readonly members: OperationObject
}

const LINES = 'application/x-ndjson'

/** The document as it is, and with its objects closed. */
const OPEN = 'open'
const CLOSED = 'closed'

export class DocumentedInterface {
  readonly operations: readonly DocumentedOperation[]
  private readonly document: OpenApiDocument
  private readonly ajv: Ajv2020
  private readonly validators = new Map<string, ValidateFunction>()

  /** `served`: as the ledger serves it, or as it is built. */
  constructor(served: OpenApiDocument | JsonObject) {
    const document = served as OpenApiDocument
    this.document = document
    this.operations = operationsOf(document)
    this.ajv = new Ajv2020({ strict: false, allErrors: true, formats: fullFormats })
    this.ajv.addSchema({ $id: OPEN, ...document })
    this.ajv.addSchema({ $id: CLOSED, ...(closed(document) as object) })
  }

  /** The operation that a request is for; undefined where the document has none. `path` may have a query. */
  find(method: string, path: string): DocumentedOperation | undefined {
    const segments = segmentsOf(path)
    const fitting = this.operations.filter((one) => one.method === method && fits(segmentsOf(one.path), segments))
    return fitting.sort((a, b) => parametersIn(a.path) - parametersIn(b.path))[0]
  }

  byId(id: string): DocumentedOperation {
    const found = this.operations.find((operation) => operation.id === id)
    if (found === undefined) throw new Error(`the document has no operation ${id}`)
    return found
  }

  /** Differences of the answer from the document; empty is good. */
  faultsOfAnswer(operation: DocumentedOperation, answer: Answer): readonly string[] {
    const { status, headers, body } = answer
    const documented = operation.members.responses[status]
    if (documented === undefined) return [`the status ${status} is not documented: ${body.slice(0, 300)}`]
    const known = Object.keys(documented.headers).map((name) => name.toLowerCase())
    const faults = this.headerNames()
      .filter((name) => headers[name] !== undefined && !known.includes(name))
      .map((name) => `the header ${name} is not documented`)
    if (headers['x-request-id'] === undefined) faults.push('there is no X-Request-Id')
    const { content = {} } = documented
    const [mediaType = ''] = String(headers['content-type'] ?? '').split(';')
    if (content[mediaType] === undefined) {
      if (Object.keys(content).length > 0) faults.push(`the media type ${mediaType} is not documented`)
      return faults
    }
    if (!mediaType.endsWith('json')) return faults
    const keys = ['paths', operation.path, operation.method.toLowerCase(), 'responses', String(status), 'content']
    const pointer = [...keys, mediaType]
    if (mediaType !== LINES) {
      return [...faults, ...this.faultsUnder(CLOSED, [...pointer, 'schema'], JSON.parse(body) as Json)]
    }
    if (content[mediaType]['x-itemSchema'] === undefined) return faults
    const inLines = linesOf(body).flatMap((line) => this.faultsUnder(CLOSED, [...pointer, 'x-itemSchema'], line))
    return [...faults, ...inLines]
  }

  /** Differences of a request body from the document. */
  faultsOfBody(operation: DocumentedOperation, body: Json): readonly string[] {
    const pointer = ['paths', operation.path, operation.method.toLowerCase(), 'requestBody', 'content']
    return this.faultsOfValue([...pointer, 'application/json', 'schema'], body)
  }

  /** Differences of a value from a schema of the document. `keys`: the place of the schema. */
  faultsOfValue(keys: readonly string[], value: Json): readonly string[] {
    return this.faultsUnder(OPEN, keys, value)
  }

  private faultsUnder(document: string, keys: readonly string[], value: Json): readonly string[] {
    const pointer = keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
    const reference = `${document}#/${pointer}`
    const validate = this.validators.get(reference) ?? this.ajv.compile({ $ref: reference })
    this.validators.set(reference, validate)
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
    )
  }

  private headerNames(): string[] {
    return Object.keys(this.document.components.headers).map((name) => name.toLowerCase())
  }
}

/** Throws when the last one does not end. */
export function linesOf(body: string): readonly Json[] {
  if (!body.endsWith('\n')) throw new Error(`the last line is cut off: ${body.slice(-100)}`)
  return body
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Json)
}

function operationsOf({ paths }: OpenApiDocument): readonly DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, members]) => ({
      id: members.operationId,
      method: method.toUpperCase(),
      path,
      members,
    })),
  )
}

/** A copy in which objects without a word on further members have none. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).map(([name, member]) => [name, closed(member)] as const)
  const copy: Readonly<Record<string, unknown>> = Object.fromEntries(members)
  const isClosable = copy['type'] === 'object' && copy['properties'] !== undefined
  return isClosable && copy['additionalProperties'] === undefined ? { ...copy, additionalProperties: false } : copy
}

function segmentsOf(path: string): readonly string[] {
  return (path.split('?')[0] ?? '').split('/')
}

function fits(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((part, index) => (part.startsWith('{') ? segments[index] !== '' : part === segments[index]))
  )
}

function parametersIn(path: string): number {
  return path.split('{').length
}
