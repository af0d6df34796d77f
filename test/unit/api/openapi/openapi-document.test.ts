import { readFileSync } from 'node:fs'
import { verify } from 'node:crypto'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../../actors/canonical-json.ts'
import { ERROR_CODES } from '../../../../api/http/error-codes.ts'
import { createOpenApiDocument } from '../../../../api/openapi/document.ts'
import type { Content } from '../../../../api/openapi/openapi-types.ts'
import { EXAMPLES } from '../../../../api/openapi/examples.ts'
import { TAGS } from '../../../../api/openapi/tags.ts'
import { PROBLEM_TYPES } from '../../../../api/http/problem.ts'
import { canonical } from '../../../support/client/client-keys.ts'
import { DocumentedInterface, type DocumentedOperation } from '../../../support/documented-interface.ts'
import { EXAMPLE_KEYS } from '../../../support/example-keys.ts'

const DOCUMENT = createOpenApiDocument('https://ledger.example/errors')
const DESCRIBED = new DocumentedInterface(DOCUMENT)
const SCHEMAS = DOCUMENT.components.schemas
const JSON_DOCUMENT = asJson(DOCUMENT)

function asJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject
}

/** Every value at every depth, with its path of keys. */
function walk(value: Json, keys: readonly string[] = []): readonly (readonly [readonly string[], Json])[] {
  if (value === null || typeof value !== 'object') return [[keys, value]]
  const inner = Object.entries(value).flatMap(([key, member]) => walk(member, [...keys, key]))
  return [[keys, value], ...inner]
}

interface NamedExample {
  readonly operation: DocumentedOperation
  readonly name: string
  readonly status: number
  readonly mediaType: string
  readonly answer: Json
  /** undefined: it has none. */
  readonly body: JsonObject | undefined
}

function examples(): readonly NamedExample[] {
  return DESCRIBED.operations.flatMap((operation) => {
    const { requestBody, responses } = operation.members
    const bodies = examplesIn(requestBody?.content)
    return Object.entries(responses).flatMap(([status, { content }]) =>
      examplesIn(content).map(({ name, mediaType, value }) => {
        const body = bodies.find((one) => one.name === name)?.value as JsonObject | undefined
        return { operation, name, status: Number(status), mediaType, answer: value, body }
      }),
    )
  })
}

function examplesIn(content: Content = {}): readonly { name: string; mediaType: string; value: Json }[] {
  return Object.entries(content).flatMap(([mediaType, { examples = {} }]) =>
    Object.entries(examples).map(([name, { value }]) => ({ name, mediaType, value })),
  )
}

describe('the OpenAPI document', () => {
  test('has the version of the release', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
    expect(DOCUMENT.info).toMatchObject({ version })
  })

  test('names each operation once, and has one relative server URL', () => {
    const ids = DESCRIBED.operations.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(DOCUMENT.servers).toMatchObject([{ url: '/' }])
  })

  test('every reference has a target, and every schema is referenced', () => {
    const references = walk(JSON_DOCUMENT).flatMap(([keys, value]) => (keys.at(-1) === '$ref' ? [String(value)] : []))
    const targets = new Set(walk(JSON_DOCUMENT).map(([keys]) => `#/${keys.join('/')}`))
    expect([...new Set(references)].filter((reference) => !targets.has(reference))).toEqual([])
    const unused = Object.keys(SCHEMAS).filter((name) => !references.includes(`#/components/schemas/${name}`))
    expect(unused).toEqual([])
  })

  test('every schema and every field has a description, and none is empty', () => {
    const undescribed = walk(SCHEMAS).flatMap(([keys, value]) => {
      const isField = keys.at(-2) === 'properties' || keys.length === 1
      const { $ref: reference, description } = isField ? (value as JsonObject) : {}
      return isField && reference === undefined && typeof description !== 'string' ? [keys.join('.')] : []
    })
    const empty = walk(JSON_DOCUMENT).flatMap(([keys, value]) => {
      const [parent, last] = [keys.at(-2), keys.at(-1)]
      const isSchema = parent === 'properties' || parent === 'schemas' || last === 'schema' || last === 'items'
      return isSchema && Object.keys(value as JsonObject).every((word) => word === 'description')
        ? [keys.join('.')]
        : []
    })
    expect([undescribed, empty]).toEqual([[], []])
  })

  test('lists every error code with its status', () => {
    const told = DOCUMENT['x-error-codes']
    expect(told.map(({ code }) => code)).toEqual(Object.keys(ERROR_CODES))
    for (const { code, status } of told) {
      const { types } = ERROR_CODES[code]
      expect([code, [...new Set(types.map((type) => PROBLEM_TYPES[type].status))]]).toEqual([code, [status]])
    }
  })

  test('every error code of a response belongs to its status', () => {
    const wrong = DESCRIBED.operations.flatMap(({ id, members }) =>
      Object.entries(members.responses).flatMap(([status, answer]) => {
        const schemas = walk(asJson(answer))
        const schema = schemas.find(([keys]) => keys.slice(-2).join('.') === 'items.enum')
        return ((schema?.[1] ?? []) as readonly (keyof typeof ERROR_CODES)[])
          .filter((code) => ERROR_CODES[code].types.every((type) => String(PROBLEM_TYPES[type].status) !== status))
          .map((code) => `${id} ${status} ${code}`)
      }),
    )
    expect(wrong).toEqual([])
  })
})

describe('the examples of the document', () => {
  test('are exactly the steps of the walk-through', () => {
    const taken = DOCUMENT['x-walkthrough'].map(({ operationId, example }) => `${operationId} ${example}`)
    expect(taken.toSorted()).toEqual(
      examples()
        .map(({ operation, name }) => `${operation.id} ${name}`)
        .toSorted(),
    )
  })

  test('include a success for every operation that returns JSON', () => {
    const succeeding = new Set(examples().flatMap(({ operation, status }) => (status < 300 ? [operation.id] : [])))
    const wanting = DESCRIBED.operations.filter(({ id, members }) => {
      const text = JSON.stringify(members.responses)
      return text.includes('"application/json":{"schema":{"$ref"') && !succeeding.has(id)
    })
    // Imports need the signature of another ledger; the walk-through has one ledger.
    expect(wanting.map(({ id }) => id)).toEqual(['createImport', 'getImport'])
  })

  test('every reply matches its JSON schema', () => {
    const faults = examples().flatMap(({ operation, name, status, mediaType, answer }) => {
      const headers = { 'x-request-id': 'of-the-test', 'content-type': mediaType }
      const body = typeof answer === 'string' ? answer : JSON.stringify(answer)
      const found = DESCRIBED.faultsOfAnswer(operation, { status, headers, body })
      return found.map((fault) => `${operation.id} ${name}: ${fault}`)
    })
    expect(faults).toEqual([])
  })

  test('every reply matches the response schema of the product, with its rules across fields', () => {
    const operations = new Map(TAGS.flatMap((tag) => tag.endpoints.map((operation) => [operation.id, operation])))
    const faults = EXAMPLES.flatMap(({ operation: id, name, answer }) => {
      if (answer === null || answer.status >= 400) return []
      const described = operations.get(id)?.answers.find(({ status }) => status === answer.status)
      const schema = answer.lines === undefined ? described?.content : described?.lines
      const parts = answer.lines ?? [answer.body]
      const isTaken = typeof schema === 'object' && schema !== null && parts.every((part) => v.is(schema, part))
      return isTaken ? [] : [`${id} ${name}`]
    })
    expect(faults).toEqual([])
  })

  test('every accepted body matches its JSON schema', () => {
    const faults = examples().flatMap(({ operation, name, status, body }) => {
      const found = body === undefined || status === 400 ? [] : DESCRIBED.faultsOfBody(operation, body)
      return found.map((fault) => `${operation.id} ${name}: ${fault}`)
    })
    expect(faults).toEqual([])
  })

  test('D6: every signature of an accepted body verifies under a key of the examples', () => {
    const unsigned = examples().flatMap(({ operation, name, status, body }) => {
      if (body === undefined || status >= 400) return []
      const { signature, proof, ...payload } = body
      const bytes = Buffer.from(canonical(payload))
      return [signature, proof].flatMap((given) => {
        if (typeof given !== 'string' || operation.id === 'verifyAssertion') return []
        const isGood = EXAMPLE_KEYS.some((key) =>
          verify('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(given, 'base64url')),
        )
        return isGood ? [] : [`${operation.id} ${name}`]
      })
    })
    expect(unsigned).toEqual([])
  })
})
