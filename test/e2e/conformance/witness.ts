/**
 * Every answer that the suite gets is held against what is documented: its status and headers are ones that the OpenAPI
 * document has for the operation, and its body fits the strict schema of the answer, members that are not documented
 * being as wrong as missing ones. What is wrong fails the test that asked.
 */
import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import type { Json } from '../../../actors/canonical-json.ts'
import type { OpenApiDocument } from '../../../api/openapi/openapi-types.ts'
import { TAGS } from '../../../api/openapi/tags.ts'
import { problemResponse } from '../../../api/schemas/responses/problem.ts'
import type { HttpReply, HttpRequest, Witness } from '../../support/client.ts'
import { DocumentedInterface } from '../../support/documented-interface.ts'

const OPERATIONS = new Map(TAGS.flatMap(({ operations }) => operations).map((operation) => [operation.id, operation]))

/** `document`: as the ledger serves it. */
export function createWitness(document: OpenApiDocument): Witness {
  const documented = new DocumentedInterface(document)
  return (what, reply) => {
    const operation = documented.find(what.method, what.path)
    const faults = [
      ...(operation === undefined ? [] : documented.faultsOfAnswer(operation, reply)),
      ...faultsOfBody(operation?.id, reply),
    ]
    if (faults.length > 0) throw new Error(`${described(what)}: ${reply.status} ${reply.body}\n${faults.join('\n')}`)
  }
}

function described({ method, path, body }: HttpRequest): string {
  return `${method} ${path} ${body === undefined ? '' : String(body).slice(0, 500)}`
}

/** `operation`: undefined where there is no such thing, so that only a problem can come. */
function faultsOfBody(operation: string | undefined, { status, headers, body }: HttpReply): readonly string[] {
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';')
  if (mediaType === 'application/problem+json') return faultsOf(problemResponse, JSON.parse(body) as Json)
  const answer = OPERATIONS.get(operation ?? '')?.answers.find((one) => one.status === status)
  if (answer === undefined) return ['this is no documented answer and no problem']
  const { content } = answer
  return content === null || typeof content === 'string' ? [] : faultsOf(content, JSON.parse(body) as Json)
}

/** The schemas leave out what they do not know, so what comes out differs from what went in. */
function faultsOf(schema: v.GenericSchema, value: Json): readonly string[] {
  const result = v.safeParse(schema, value)
  if (!result.success) return result.issues.map((issue) => `${v.getDotPath(issue) ?? 'body'}: ${issue.message}`)
  return isDeepStrictEqual(result.output, value) ? [] : ['there are members that are not documented']
}
