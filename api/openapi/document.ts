/**
 * The OpenAPI document: built once, from the descriptions of the endpoints and the schemas that validate.
 *   O1. It has every route of the edge and nothing else, with the roles that the route demands.
 *   O2. Every example in it can be sent, in the order of `x-walkthrough`, to a new ledger, and gets the answer that
 *       stands beside it.
 */
import { ERROR_CODES } from '../http/error-codes.ts'
import { ALL_ERROR_CODES, statusOfCode } from './codes.ts'
import { type Example, examplesUnder } from './examples.ts'
import { HEADERS } from '../endpoint/operation.ts'
import { createSchemaBook, type SchemaBook } from './json-schemas.ts'
import type { OpenApiDocument, OperationObject } from './openapi-types.ts'
import { namedSchemas } from '../schemas/named-schema.ts'
import { documentPath, operationObject } from './operation-object.ts'
import { submissionSchemas } from './submission-schemas.ts'
import { TAGS } from './tags.ts'

/** Of the release; `package.json` has the same. */
export const INTERFACE_VERSION = '0.8.0'

/** `errorBase`: where the types of problems are explained. */
export function createOpenApiDocument(errorBase: string): OpenApiDocument {
  const book = createSchemaBook(namedSchemas())
  const examples = examplesUnder(errorBase)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ledger',
      version: INTERFACE_VERSION,
      summary: 'A sharded, privacy-preserving ledger for digital assets.',
      description: INTRODUCTION,
      contact: { name: 'The operator of this ledger' },
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The ledger that serves this document.' }],
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    paths: pathsOf(book, examples),
    components: {
      schemas: { ...book.components, ...submissionSchemas(book.components['Submission'] ?? {}) },
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
      ),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'An access token of POST /v1/auth/token. Its client has one role: `viewer`, `transactor` or `admin`.',
        },
      },
    },
    'x-error-codes': ALL_ERROR_CODES.map((code) => ({
      code,
      status: statusOfCode(code),
      meaning: ERROR_CODES[code].meaning,
    })),
    'x-walkthrough': examples.map(({ operation, name, as }) => ({ operationId: operation, example: name, role: as })),
  }
}

const INTRODUCTION = `All of the interface is under \`/v1\`, takes and gives JSON, and needs \`Authorization: Bearer <token>\`, except for the token itself.

- Quantities are decimal strings, never JSON numbers: at most 18 integer and 18 fractional digits.
- Times are ISO 8601 in UTC with milliseconds.
- Errors are problem details (RFC 9457) with \`error_codes\` for programs; a 400 lists everything that is wrong at once.
- Orders are asynchronous: a 202 means that the order is durable, not that it is completed. With \`Prefer: wait=10\` the response waits until the order is final, at most 10 s, and carries its outcome.
- Every order carries an \`idempotency_key\`. A retry gets the original answer, and the order is applied once. A 503 says in \`outcome\` whether the order was \`not_applied\` (proved) or is \`unknown\`: both are retried with the same key, with exponential back-off.
- In a body that is not signed, an optional field that is \`null\` counts as absent. In a signed body it is refused: omit it.
- Lists are paged: send \`next_page_token\` back as \`page_token\` until it is empty. Nothing is skipped or repeated because other rows arrive meanwhile.
- Within \`/v1\`, fields are only ever added: ignore the ones you do not know.

An order is signed with the P-256 key of its account, over the SHA-256 of its canonical JSON (RFC 8785) without the member \`signature\`. The signature is sent as base64url or base64 of the 64 bytes r||s, or of DER.

The examples are real: in the order of the walk-through they can be sent to a new ledger unchanged. The keys that sign them are published in RFC 6979 (A.2.5), RFC 7515 (A.3) and RFC 7517 (A.2): never use them for anything else.`

function pathsOf(book: SchemaBook, examples: readonly Example[]): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, OperationObject>> = {}
  for (const tag of TAGS) {
    for (const operation of tag.endpoints) {
      const path = documentPath(operation)
      const method = operation.method.toLowerCase()
      const ofOperation = examples.filter((example) => example.operation === operation.id)
      paths[path] = { ...paths[path], [method]: operationObject(operation, tag, book, ofOperation) }
    }
  }
  return paths
}
