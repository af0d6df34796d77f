/**
 * The production schema validator: answers questions in worker processes. Invariants M1 and M2 of the port.
 * A question that ends its worker is repeated once, in a process of its own, while other questions proceed. If that process
 * ends too, the question is refused, and the refusal is cached.
 */
import { hash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { createBoundedCache } from '../../runtime/common/bounded-cache.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { SchemaValidator, ValueVerdict } from '../../runtime/ports/schema-validator.ts'
import {
  NO_SCHEMA,
  type Question,
  readSchemaVerdict,
  readValueVerdict,
  schemaText,
  TOO_MUCH_WORK,
  TOO_MUCH_WORK_FOR_VALUE,
  valueText,
} from './question.ts'
import { startWorker, WORKER_LIMITS, type WorkerLimits, type WorkerOutcome } from './validator-worker.ts'
import { createWorkerLane, type WorkerLane } from './worker-lane.ts'

export interface IsolatedSchemaValidatorOptions {
  readonly log: Log
  /** Number of ordinary worker processes. */
  readonly workers?: number
  readonly limits?: WorkerLimits
  /** Elapsed time that a question may wait for a process. */
  readonly maxWaitMs?: number
  /** Path of the worker program. */
  readonly program?: string
}

export interface IsolatedSchemaValidator extends SchemaValidator {
  readonly close: () => Promise<void>
}

const MAX_WAITING = 256
const MAX_WAITING_BYTES = 64 * 1_024 * 1_024
const MAX_WAIT_MS = 10_000
/** Repeated questions that may wait. */
const MAX_SUSPECTS = 16
const MAX_CACHED_REFUSALS = 1_000

type Outcome = { readonly kind: 'answered'; readonly verdict: unknown } | { readonly kind: 'refused' | 'overloaded' }

export function createIsolatedSchemaValidator(options: IsolatedSchemaValidatorOptions): IsolatedSchemaValidator {
  const { log, workers = availableParallelism() < 4 ? 1 : 2, limits = WORKER_LIMITS } = options
  const { program = PROGRAM, maxWaitMs = MAX_WAIT_MS } = options
  const lane = (kind: 'ordinary' | 'suspect'): WorkerLane =>
    createWorkerLane({
      start: () => startWorker(program, limits),
      fresh: kind === 'suspect',
      maxWaiting: kind === 'suspect' ? MAX_SUSPECTS : MAX_WAITING,
      maxWaitingBytes: MAX_WAITING_BYTES,
      maxWaitMs,
      onLost: (outcome) => log.warn('schema_worker_lost', { lane: kind, outcome }),
    })
  const ordinary = Array.from({ length: workers }, () => lane('ordinary'))
  const suspects = lane('suspect')
  const refused = createBoundedCache<string, true>(MAX_CACHED_REFUSALS)

  async function decide(question: Question): Promise<Outcome> {
    if (refused.size() > 0 && refused.get(keyOf(question)) === true) return { kind: 'refused' }
    let outcome = await leastBusy(ordinary).ask(question)
    if (outcome.kind === 'over') outcome = await suspects.ask(question)
    if (outcome.kind === 'over') refused.set(keyOf(question), true)
    return outcomeOf(outcome)
  }

  return {
    check: async (schema) => {
      const text = schemaText(schema)
      if (!text.ok) return { kind: 'invalid', reason: text.error }
      const outcome = await decide({ kind: 'check', schema: text.value })
      if (outcome.kind === 'overloaded') return { kind: 'overloaded' }
      const verdict = outcome.kind === 'answered' ? readSchemaVerdict(outcome.verdict) : undefined
      return verdict ?? { kind: 'invalid', reason: TOO_MUCH_WORK }
    },
    validate: async (schema, value) => {
      const text = schemaText(schema)
      if (!text.ok) return refusal(NO_SCHEMA)
      const json = valueText(value)
      if (!json.ok) return refusal(json.error)
      const outcome = await decide({ kind: 'validate', schema: text.value, value: json.value })
      if (outcome.kind === 'overloaded') return { kind: 'overloaded' }
      const verdict = outcome.kind === 'answered' ? readValueVerdict(outcome.verdict) : undefined
      return verdict ?? refusal(TOO_MUCH_WORK_FOR_VALUE)
    },
    close: async () => {
      await Promise.all([...ordinary, suspects].map((one) => one.close()))
    },
  }
}

/** Beside this file, and compiled if this file is. */
const PROGRAM = fileURLToPath(
  new URL(`./validator-process.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
)

function leastBusy(lanes: readonly WorkerLane[]): WorkerLane {
  return lanes.reduce((best, lane) => (lane.waiting() < best.waiting() ? lane : best))
}

function outcomeOf(outcome: WorkerOutcome): Outcome {
  switch (outcome.kind) {
    case 'answered':
      return outcome
    case 'over':
      return { kind: 'refused' }
    case 'late':
      return { kind: 'overloaded' }
  }
}

function refusal(message: string): ValueVerdict {
  return { kind: 'invalid', errors: [{ path: '', message }] }
}

function keyOf(question: Question): string {
  return hash('sha256', JSON.stringify(question))
}
