/** A hostile question is refused for good, and all others get a verdict (M1, M2). */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import {
  type IsolatedSchemaValidator,
  createIsolatedSchemaValidator,
} from '../../../infra/schema/schema-validator-isolated.ts'
import type { WorkerLimits } from '../../../infra/schema/validator-worker.ts'
import type { LogFields } from '../../../runtime/ports/log.ts'

const PROGRAM = join(import.meta.dirname, 'scripted-validator.mjs')
const LIMITS: WorkerLimits = { cpuMs: 300, elapsedMs: 60_000, startMs: 60_000, heapMb: 32 }
const MAX_WAIT_MS = 60_000
const NO = { kind: 'invalid', reason: 'It takes more time or memory than a schema may.' }

const validators: IsolatedSchemaValidator[] = []
afterEach(async () => {
  await Promise.all(validators.splice(0).map((validator) => validator.close()))
})

interface Scene {
  readonly validator: IsolatedSchemaValidator
  readonly lost: LogFields[]
}

function createScene(limits: Partial<WorkerLimits> = {}, program = PROGRAM): Scene {
  const lost: LogFields[] = []
  const warn = (_: string, fields: LogFields = {}): void => void lost.push(fields)
  const log = { info: () => undefined, warn, error: () => undefined }
  const validator = createIsolatedSchemaValidator({
    log,
    workers: 1,
    program,
    limits: { ...LIMITS, ...limits },
    maxWaitMs: MAX_WAIT_MS,
  })
  validators.push(validator)
  return { validator, lost }
}

const VALID: JsonObject = { act: 'valid' }

describe('M2: a question that ends its process', () => {
  // The ways in which a process ends are tested in validator-worker.test.ts.
  test('is repeated once, alone, and then refused', async () => {
    const { validator, lost } = createScene()
    expect(await validator.check({ act: 'exit' })).toEqual(NO)
    expect(lost).toEqual([
      { lane: 'ordinary', outcome: 'over' },
      { lane: 'suspect', outcome: 'over' },
    ])
    expect(await validator.check(VALID)).toEqual({ kind: 'valid' })
  })

  test('is not asked again after its refusal (M1)', async () => {
    const { validator, lost } = createScene()
    const first = await validator.validate({ act: 'exit' }, 1)
    expect(first).toEqual({
      kind: 'invalid',
      errors: [{ path: '', message: 'takes more time or memory to check than is allowed' }],
    })
    expect(await validator.validate({ act: 'exit' }, 1)).toEqual(first)
    expect(lost).toHaveLength(2)
    // Another value is another question.
    expect(await validator.validate({ act: 'exit' }, 2)).toEqual(first)
    expect(lost).toHaveLength(4)
  })

  test('gets its verdict if the second process answers', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'schema-validator-'))
    try {
      const { validator, lost } = createScene()
      expect(await validator.check({ act: 'once', mark: join(directory, 'mark') })).toEqual({ kind: 'valid' })
      expect(lost).toEqual([{ lane: 'ordinary', outcome: 'over' }])
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  test('does not delay other questions during the repetition', async () => {
    const { validator, lost } = createScene({ cpuMs: 1_000 })
    const hostile = validator.check({ act: 'loop' })
    const after = await validator.check(VALID)
    expect(after).toEqual({ kind: 'valid' })
    // The first process has ended, and the second one is running.
    expect(lost).toEqual([{ lane: 'ordinary', outcome: 'over' }])
    expect(await hostile).toEqual(NO)
  })
})

describe('a malformed verdict', () => {
  test('is a refusal', async () => {
    const { validator } = createScene()
    expect(await validator.check({ act: 'lie' })).toEqual(NO)
    expect(await validator.validate({ act: 'lie' }, 1)).toMatchObject({ kind: 'invalid', errors: [{ path: '' }] })
  })

  test('is overload if no process can be started', async () => {
    const { validator, lost } = createScene({}, join(import.meta.dirname, 'there-is-no-such-program.mjs'))
    expect(await validator.check(VALID)).toEqual({ kind: 'overloaded' })
    expect(await validator.validate(VALID, 1)).toEqual({ kind: 'overloaded' })
    expect(lost).toEqual([
      { lane: 'ordinary', outcome: 'not_started' },
      { lane: 'ordinary', outcome: 'not_started' },
    ])
  })
})

test('after close it has no process and reports overload', async () => {
  const { validator } = createScene()
  const verdict = await validator.check({ act: 'pid' })
  const pid = verdict.kind === 'invalid' ? Number(verdict.reason) : 0
  expect(process.kill(pid, 0)).toBe(true)
  await validator.close()
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  expect(await validator.check(VALID)).toEqual({ kind: 'overloaded' })
})

test('a schema or value that is too large or too deep is refused without a process', async () => {
  const { validator } = createScene({}, 'none')
  const deep = (levels: number): JsonObject => (levels === 1 ? {} : { not: deep(levels - 1) })
  expect(await validator.check(deep(33))).toEqual({ kind: 'invalid', reason: 'It is nested deeper than 32 levels.' })
  expect(await validator.check({ title: 'é'.repeat(32_763) })).toEqual({
    kind: 'invalid',
    reason: 'It has more than 65,536 bytes as canonical JSON.',
  })
  expect(await validator.validate({}, deep(33))).toEqual({
    kind: 'invalid',
    errors: [{ path: '', message: 'is nested deeper than 32 levels' }],
  })
  // Within the bounds the question goes to a process, which cannot be started here.
  expect(await validator.check(deep(32))).toEqual({ kind: 'overloaded' })
  expect(await validator.check({ title: 'é'.repeat(32_762) })).toEqual({ kind: 'overloaded' })
})
