/**
 * The examples of the interface: requests in an order that a new ledger accepts, each with the answer that a ledger gave.
 * They are in examples.json, which the conformance test compares with a running ledger, and records anew with
 * `LEDGER_RECORD_EXAMPLES=1 npm test -- test/e2e/conformance.e2e.test.ts`. `{errors}` in an answer stands for the address of
 * the explanations of errors.
 */
import { createRequire } from 'node:module'
import type { Role } from '../../actors/account/commands.ts'
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import type { WithExamples } from './openapi-types.ts'

export interface Example {
  /** The ID of the operation. */
  readonly operation: string
  /** Unique among the examples of the operation. */
  readonly name: string
  readonly summary: string
  /** The role of the client; null: the request carries no token. */
  readonly as: Role | null
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: JsonObject
  /** null: not recorded yet. */
  readonly answer: ExampleAnswer | null
}

export interface ExampleAnswer {
  readonly status: number
  /** One JSON object, or the lines of `application/x-ndjson`. */
  readonly body?: JsonObject
  readonly lines?: readonly JsonObject[]
}

export const EXAMPLES = createRequire(import.meta.url)('./examples.json') as readonly Example[]

/** `errorBase`: where the types of problems are explained. */
export function examplesUnder(errorBase: string): readonly Example[] {
  const escaped = JSON.stringify(errorBase).slice(1, -1)
  return JSON.parse(JSON.stringify(EXAMPLES).replaceAll('{errors}', () => escaped)) as readonly Example[]
}

/** The examples that have the value, by their names. */
export function examplesWith(
  examples: readonly Example[],
  valueOf: (example: Example) => Json | undefined,
): WithExamples {
  const found = examples.flatMap((example) => {
    const value = valueOf(example)
    return value === undefined ? [] : [[example.name, { summary: example.summary, value }] as const]
  })
  return found.length === 0 ? {} : { examples: Object.fromEntries(found) }
}
