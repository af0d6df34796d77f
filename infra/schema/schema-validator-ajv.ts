/**
 * The schema validator of production: ajv, in processes of its own. Invariants M1 and M2 of the port.
 * A question that ends its process, or uses up its time, is asked once more, of a process that has nothing else: if it
 * ends that as well, the answer is no, and is kept, so that it need not be asked again. Meanwhile the others go on.
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
  TOO_MUCH_WORK,
  TOO_MUCH_WORK_FOR_VALUE,
} from './question.ts'
import { schemaText, valueText } from './question-text.ts'
import { startWorker, WORKER_LIMITS, type WorkerLimits, type WorkerOutcome } from './validator-worker.ts'
import { createWorkerLane, type WorkerLane } from './worker-lane.ts'

export interface AjvSchemaValidatorOptions {
  readonly log: Log
  /** Processes for questions that have done nothing yet. */
  readonly workers?: number
  readonly limits?: WorkerLimits
  /** For a process, by the clock. */
  readonly maxWaitMs?: number
  /** Where the program of the processes lies. */
  readonly program?: string
}

export interface AjvSchemaValidator extends SchemaValidator {
  readonly close: () => Promise<void>
}

const MAX_WAITING = 256
const MAX_WAITING_BYTES = 64 * 1_024 * 1_024
const MAX_WAIT_MS = 10_000
/** Those that wait for a process of their own. */
const MAX_SUSPECTS = 16
/** Questions that have been answered no because they take too much. */
const KEPT_REFUSALS = 1_000

type Outcome = { readonly kind: 'answered'; readonly verdict: unknown } | { readonly kind: 'refused' | 'overloaded' }

export function createAjvSchemaValidator(options: AjvSchemaValidatorOptions): AjvSchemaValidator {
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
  const refused = createBoundedCache<string, true>(KEPT_REFUSALS)

  async function decide(question: Question): Promise<Outcome> {
    if (refused.size() > 0 && refused.get(nameOf(question)) === true) return { kind: 'refused' }
    let outcome = await leastBusy(ordinary).ask(question)
    if (outcome.kind === 'over') outcome = await suspects.ask(question)
    if (outcome.kind === 'over') refused.set(nameOf(question), true)
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
      const written = valueText(value)
      if (!written.ok) return refusal(written.error)
      const outcome = await decide({ kind: 'validate', schema: text.value, value: written.value })
      if (outcome.kind === 'overloaded') return { kind: 'overloaded' }
      const verdict = outcome.kind === 'answered' ? readValueVerdict(outcome.verdict) : undefined
      return verdict ?? refusal(TOO_MUCH_WORK_FOR_VALUE)
    },
    close: async () => {
      await Promise.all([...ordinary, suspects].map((one) => one.close()))
    },
  }
}

/** Beside this file, and like it compiled or not. */
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

function nameOf(question: Question): string {
  return hash('sha256', JSON.stringify(question))
}
