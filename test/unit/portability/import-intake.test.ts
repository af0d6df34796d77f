/** Tests T1 and T2 of import-intake.ts. */
import { beforeEach, describe, expect, test } from 'vitest'
import { MAX_STAGED } from '../../../infra/portability/import-store.ts'
import type { ImportPart, LedgerImports } from '../../../runtime/ports/ledger-imports.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'
import { createMemoryImportStore, type MemoryImportStore } from '../../support/memory/import-store-memory.ts'
import { fileOf, given, IMPORT_ID, intakeOf, partsOf } from './import-scene.ts'

const file = await fileOf()
const parts = partsOf(file.records, 4)
const [first, second, last] = parts as readonly [ImportPart, ImportPart, ImportPart]

let store: MemoryImportStore
let clock: ManualClock
let driven: string[]
let drive: (importId: string) => Promise<void>
let imports: LedgerImports

beforeEach(() => {
  clock = createManualClock(1_760_000_000_000)
  store = createMemoryImportStore({ nowMs: clock.monotonic })
  driven = []
  drive = async (importId) => void driven.push(importId)
  imports = intakeOf(file.keys, { store, clock, drive: (importId) => drive(importId) })
})

/** Head of a running import. */
async function become(status: 'done' | 'refused' | 'taking', settled = true): Promise<void> {
  const head = await store.head(IMPORT_ID)
  if (head === undefined) throw new Error('there is no import')
  const summary = { accounts: 2, tokens: 1, nftClasses: 1, nftInstances: 2, attestations: 1, present: 0 }
  const refusal = { kind: 'exists', field: 'lines[9]', detail: 'There is another.' } as const
  const after = {
    ...head,
    status,
    ...(status === 'done' ? { summary } : {}),
    ...(status === 'refused' ? { refusal } : {}),
  }
  if (settled && status !== 'taking') await store.change(head, after, { ends: true })
  else await store.change(head, { ...after, position: 3, total: 9 })
}

describe('the parts of an import', () => {
  test('arrive in order, and each reply names the next part', async () => {
    expect(await imports.take(first)).toMatchObject({ phase: 'staging', nextPart: 1, lines: 4 })
    expect(await imports.status(IMPORT_ID)).toMatchObject({ phase: 'staging', nextPart: 1, lines: 4 })
    expect(await imports.take(second)).toMatchObject({ phase: 'staging', nextPart: 2, lines: 8 })
    expect(await imports.take(last)).toMatchObject({ phase: 'checking' })
    expect(driven).toEqual([IMPORT_ID])
    expect(await imports.status('none')).toBeUndefined()
  })

  test('T2: a repeated part gets the same reply and is stored once', async () => {
    await imports.take(first)
    await imports.take(second)
    expect(await imports.take(first)).toMatchObject({ phase: 'staging', nextPart: 1, lines: 4 })
    expect(await imports.take(second)).toMatchObject({ phase: 'staging', nextPart: 2, lines: 8 })
    expect(await imports.status(IMPORT_ID)).toMatchObject({ phase: 'staging', nextPart: 2, lines: 8 })
    await imports.take(last)
    await imports.take(last)
    expect(driven).toEqual([IMPORT_ID, IMPORT_ID])
  })

  test('T2: other content for a stored part, and a gap, are refused and change nothing', async () => {
    await imports.take(first)
    const changed = { ...first, records: first.records.slice(0, 3) }
    expect(await imports.take(changed)).toMatchObject({
      kind: 'conflict',
      detail: expect.stringContaining('different content'),
    })
    expect(await imports.take({ ...first, last: true })).toMatchObject({ kind: 'conflict' })
    expect(await imports.take(last)).toMatchObject({ kind: 'conflict', detail: 'Part 1 comes next.' })
    expect(await imports.status(IMPORT_ID)).toMatchObject({ phase: 'staging', nextPart: 1, lines: 4 })
    expect(await imports.take({ ...second, importId: 'bbbbbbbb-3d47-4e58-8a69-0b1c2d3e4f50' })).toMatchObject({
      kind: 'conflict',
      detail: expect.stringContaining('Send part 0 first'),
    })
  })

  test('T1: a part that is sent twice concurrently is stored once', async () => {
    await Promise.all([imports.take(first), imports.take(first), imports.take(first)])
    expect(await imports.status(IMPORT_ID)).toMatchObject({ phase: 'staging', nextPart: 1, lines: 4 })
    const [one, other] = await Promise.all([imports.take(second), imports.take(second)])
    expect(one).toMatchObject({ phase: 'staging', nextPart: 2, lines: 8 })
    expect(other).toEqual(one)
  })

  test('a refused part is not stored, and the one before stays', async () => {
    await imports.take(first)
    const damaged = { ...second, records: second.records.slice(1) }
    expect(await imports.take(damaged)).toMatchObject({ kind: 'invalid' })
    expect(await imports.status(IMPORT_ID)).toMatchObject({ phase: 'staging', nextPart: 1, lines: 4 })
    expect(await imports.take(second)).toMatchObject({ phase: 'staging' })
  })

  test('a last part with a wrong signature deletes the import', async () => {
    await imports.take(first)
    await imports.take(second)
    const records = last.records.map(({ record }) =>
      record['record'] === 'proof' ? { ...record, requester: 'x' } : record,
    )
    expect(await imports.take({ ...last, records: given(records) })).toMatchObject({
      kind: 'mismatch',
      // D14: the expected key and payload digest.
      signed: {
        keyId: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) as string,
        payloadHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
    })
    expect(await imports.status(IMPORT_ID)).toBeUndefined()
    expect(driven).toEqual([])
  })

  test('a malformed last part deletes nothing: the correct one may follow', async () => {
    await imports.take(first)
    await imports.take(second)
    const before = await imports.status(IMPORT_ID)
    const illFormed = last.records.map((one) => ({ ...one, wellFormed: false }))
    expect(await imports.take({ ...last, records: illFormed })).toEqual({ kind: 'invalid', faults: [] })
    expect(await imports.take({ ...last, records: last.records.slice(1) })).toMatchObject({ kind: 'invalid' })
    expect(await imports.take({ ...last, records: last.records.slice(0, -1) })).toMatchObject({ kind: 'invalid' })
    expect(await imports.status(IMPORT_ID)).toEqual(before)
    expect(await imports.take(last)).toMatchObject({ phase: 'checking' })
  })

  test('malformed records are never stored', async () => {
    const records = first.records.map((one) => ({ ...one, wellFormed: false }))
    expect(await imports.take({ ...first, records })).toEqual({ kind: 'invalid', faults: [] })
    expect(await imports.status(IMPORT_ID)).toBeUndefined()
  })

  test('no part follows the last one', async () => {
    for (const part of parts) await imports.take(part)
    expect(await imports.take({ ...second, part: 3 })).toMatchObject({ kind: 'conflict' })
  })

  test('the number of imports being staged is limited', async () => {
    for (let at = 0; at < MAX_STAGED; at += 1) {
      expect(await imports.take({ ...first, importId: `import ${at}` })).toMatchObject({ phase: 'staging' })
    }
    expect(await imports.take(first)).toMatchObject({ kind: 'conflict', detail: expect.stringContaining('Too many') })
  })

  test('the request with the last part waits for the end, at most 25 seconds', async () => {
    drive = async () => become('done')
    await imports.take(first)
    await imports.take(second)
    expect(await imports.take(last)).toMatchObject({ phase: 'done', summary: { accounts: 2 } })
    await store.discard((await store.head(IMPORT_ID)) ?? Object.create(null))
    drive = () => new Promise(() => undefined)
    await imports.take(first)
    await imports.take(second)
    let answered = false
    const waiting = imports.take(last).finally(() => (answered = true))
    await clock.pass(24_999)
    expect(answered).toBe(false)
    await clock.pass(1)
    expect(await waiting).toMatchObject({ phase: 'checking', done: 0, total: 0 })
  })

  test('T2: after the end every repeated part gets the outcome', async () => {
    for (const part of parts) await imports.take(part)
    await become('done')
    for (const part of parts) expect(await imports.take(part)).toMatchObject({ phase: 'done' })
    expect(await imports.take({ ...last, records: last.records.slice(1) })).toMatchObject({ kind: 'conflict' })
    expect(await imports.status(IMPORT_ID)).toMatchObject({ phase: 'done', lines: 11, summary: { accounts: 2 } })
  })

  test('a refusal is repeated, and part 0 begins anew once it has settled', async () => {
    for (const part of parts) await imports.take(part)
    await become('refused', false)
    expect(await imports.take(last)).toMatchObject({ kind: 'exists', field: 'lines[9]' })
    expect(await imports.take(first)).toMatchObject({ kind: 'exists', field: 'lines[9]' })
    expect(await imports.status(IMPORT_ID)).toMatchObject({ phase: 'refused', refusal: { field: 'lines[9]' } })
    await store.settle(IMPORT_ID)
    expect(await imports.take(last)).toMatchObject({ kind: 'exists' })
    expect(await imports.take(first)).toMatchObject({ phase: 'staging', nextPart: 1 })
  })

  test('the status shows the progress', async () => {
    for (const part of parts) await imports.take(part)
    await become('taking')
    expect(await imports.status(IMPORT_ID)).toMatchObject({
      phase: 'taking',
      nextPart: 3,
      lines: 11,
      done: 3,
      total: 9,
    })
  })
})
