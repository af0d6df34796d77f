/** The answers of an endpoint: the good ones as they are described, and every 'no' that follows from what it is. */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { invariant } from '../../actors/result.ts'
import { ERROR_CODES } from '../error-codes.ts'
import { type ErrorCode, PROBLEM_TYPES, renderProblem } from '../problem.ts'
import { problemResponse } from '../schemas/responses/problem.ts'
import { errorCodesOf, statusOfCode } from './codes.ts'
import { headersOf } from './headers.ts'
import type { SchemaBook } from './json-schemas.ts'
import type { Content, ResponseObject, WithExamples } from './openapi-types.ts'
import type { AnswerDescription, Example, Operation } from './operation.ts'

/** `errorBase`: where the types of problems are explained. */
export function answersOf(
  operation: Operation,
  book: SchemaBook,
  errorBase: string,
): Readonly<Record<string, ResponseObject>> {
  const answers: Record<string, ResponseObject> = {}
  for (const answer of operation.answers) {
    const { status, description, headers = [] } = answer
    const content = contentOf(answer, book, examplesOf(operation, status, errorBase))
    answers[status] = { description, headers: headersOf(headers), ...(content === undefined ? {} : { content }) }
  }
  const codes = errorCodesOf(operation, book)
  for (const status of new Set(codes.map(statusOfCode))) {
    invariant(!Object.hasOwn(answers, status), 'a status is that of an answer or of a problem')
    const ofStatus = codes.filter((code) => statusOfCode(code) === status)
    const examples = examplesOf(operation, status, errorBase)
    answers[status] = problemAnswer(operation, book, status, ofStatus, examples)
  }
  return answers
}

function contentOf({ content }: AnswerDescription, book: SchemaBook, examples: WithExamples): Content | undefined {
  if (content === null) return undefined
  if (typeof content !== 'string') return { 'application/json': { schema: book.named(content), ...examples } }
  return { [content]: { schema: { type: content.endsWith('json') ? 'object' : 'string' } } }
}

function problemAnswer(
  operation: Operation,
  book: SchemaBook,
  status: number,
  codes: readonly ErrorCode[],
  examples: WithExamples,
): ResponseObject {
  const reasons = codes.map((code) => `- \`${code}\`: ${meaningOf(operation, code)}`)
  const schema = {
    allOf: [book.named(problemResponse)],
    properties: { status: { const: status }, error_codes: { items: { enum: codes } } },
    ...requiredMembers(operation, status),
  }
  return {
    description: `${titleOf(status)}.\n\n${reasons.join('\n')}`,
    headers: headersOf(status === 503 ? ['Retry-After'] : status === 401 ? ['WWW-Authenticate'] : []),
    content: { 'application/problem+json': { schema, ...examples } },
  }
}

function meaningOf({ refusals = {} }: Operation, code: ErrorCode): string {
  const { [code]: here = '' } = refusals
  return here === '' ? ERROR_CODES[code].meaning : here
}

/** What a problem has beyond what all of them have (P2). */
function requiredMembers({ changes }: Operation, status: number): JsonObject {
  if (status === 400) return { required: ['errors'] }
  return status === 503 && changes !== undefined ? { required: ['outcome'] } : {}
}

function titleOf(status: number): string {
  const titles = Object.values(PROBLEM_TYPES).filter((type) => type.status === status)
  return [...new Set(titles.map(({ title }) => title))].join(' or ')
}

function examplesOf(operation: Operation, status: number, errorBase: string): WithExamples {
  const examples = Object.entries(operation.examples).flatMap(([name, example]) => {
    const answer = answerOf(operation, example, errorBase)
    return answer.status === status ? [[name, { summary: example.summary, value: answer.body }] as const] : []
  })
  return examples.length === 0 ? {} : { examples: Object.fromEntries(examples) }
}

/** What the example is answered, problems as they are rendered. */
function answerOf(
  operation: Operation,
  example: Example,
  errorBase: string,
): { readonly status: number; readonly body: JsonObject } {
  const { answer } = example
  if (!('kind' in answer)) return answer
  const { status, body } = renderProblem(answer, errorBase, examplePath(operation, example))
  return { status, body: JSON.parse(body) as JsonObject }
}

/** The path of the route with the example's values. */
function examplePath({ path }: Operation, example: Example): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => example.path?.[name] ?? '')
}
