/** The answers of an endpoint: the good ones as they are described, and every 'no' that follows from what it is. */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { invariant } from '../../actors/result.ts'
import { ERROR_CODES } from '../http/error-codes.ts'
import { type ErrorCode, PROBLEM_TYPES } from '../http/problem.ts'
import { problemResponse } from '../schemas/responses/problem.ts'
import { LINES_TYPE } from '../endpoint/transaction-lines.ts'
import { errorCodesOf, statusOfCode } from './codes.ts'
import type { SchemaBook } from './json-schemas.ts'
import type { Content, ResponseObject, WithExamples } from './openapi-types.ts'
import { type Example, examplesWith } from './examples.ts'
import type { AnswerDescription, AnswerHeader, Operation } from '../endpoint/operation.ts'

/** `examples`: those of the operation. */
export function answersOf(
  operation: Operation,
  book: SchemaBook,
  examples: readonly Example[],
): Readonly<Record<string, ResponseObject>> {
  const answers: Record<string, ResponseObject> = {}
  for (const answer of operation.answers) {
    const { status, description, headers = [] } = answer
    const content = contentOf(answer, book, (form) => answeredWith(examples, status, form))
    answers[status] = {
      description,
      headers: headersOf([...headers, ...limitHeadersOf(operation)]),
      ...(content === undefined ? {} : { content }),
    }
  }
  const codes = errorCodesOf(operation, book)
  for (const status of new Set(codes.map(statusOfCode))) {
    invariant(!Object.hasOwn(answers, status), 'a status is that of an answer or of a problem')
    const ofStatus = codes.filter((code) => statusOfCode(code) === status)
    answers[status] = problemAnswer(operation, book, status, ofStatus, answeredWith(examples, status))
  }
  return answers
}

function contentOf(
  { content, lines, text }: AnswerDescription,
  book: SchemaBook,
  examples: (form: Form) => WithExamples,
): Content | undefined {
  if (content === null) return undefined
  if (typeof content === 'string') {
    return { [content]: { schema: { type: content.endsWith('json') ? 'object' : 'string' } } }
  }
  const whole = { 'application/json': { schema: book.named(content), ...examples('body') } }
  if (text !== undefined) return { ...whole, [text]: { schema: { type: 'string' } } }
  if (lines === undefined) return whole
  const inLines = { schema: { type: 'string' }, 'x-itemSchema': book.named(lines), ...examples('lines') }
  return { ...whole, [LINES_TYPE]: inLines }
}

const HEADERS_OF_PROBLEMS: Readonly<Record<number, readonly AnswerHeader[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** In all answers to a client with a rate limit, once its token and role were checked. */
function limitHeadersOf({ roles }: Operation): readonly AnswerHeader[] {
  return roles === null ? [] : ['RateLimit-Policy', 'RateLimit']
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
    headers: headersOf([...(HEADERS_OF_PROBLEMS[status] ?? []), ...limitHeadersOf(operation)]),
    content: { 'application/problem+json': { schema, ...examples } },
  }
}

function meaningOf({ refusals = {} }: Operation, code: ErrorCode): string {
  const { [code]: here = '' } = refusals
  return here === '' ? ERROR_CODES[code].meaning : here
}

/** Members of this problem beyond those of every problem (P2). */
function requiredMembers({ changes }: Operation, status: number): JsonObject {
  if (status === 400) return { required: ['errors'] }
  return (status === 503 || status === 429) && changes !== undefined ? { required: ['outcome'] } : {}
}

function titleOf(status: number): string {
  const titles = Object.values(PROBLEM_TYPES).filter((type) => type.status === status)
  return [...new Set(titles.map(({ title }) => title))].join(' or ')
}

/** An answer is one JSON value, or lines of JSON. */
type Form = 'body' | 'lines'

function answeredWith(examples: readonly Example[], status: number, form: Form = 'body'): WithExamples {
  return examplesWith(examples, ({ answer }) => {
    if (answer?.status !== status) return undefined
    return form === 'body' ? answer.body : answer.lines?.map((line) => `${JSON.stringify(line)}\n`).join('')
  })
}

/** The named headers, and the request ID that every answer has. */
function headersOf(names: readonly AnswerHeader[]): ResponseObject['headers'] {
  return Object.fromEntries(
    (['X-Request-Id', ...names] as const).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
}
