/** Tests U1 to U4 of import-takeup.ts. */
import { expect, test, vi } from 'vitest'
import { createImportTakeup } from '../../../infra/portability/import-takeup.ts'
import { LedgerImportsUnavailable } from '../../../runtime/ports/ledger-imports.ts'
import type { Log } from '../../../runtime/ports/log.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { createMemoryImportStore, type MemoryImportStore } from '../../support/memory/import-store-memory.ts'
import { createFakeHomes } from './fake-homes.ts'
import { fileOf, IMPORT_ID, intakeOf, partsOf } from './import-scene.ts'
import { anAccount, createKeys, ledgerBody } from './export-scene.ts'

/** Waits on real time: the duration depends on the machine. */
const PATIENTLY = { timeout: 180_000 }
const keys = createKeys()

function setUp(change: (store: MemoryImportStore) => Partial<MemoryImportStore> = () => ({})) {
  const clock = createManualClock(1_760_000_000_000)
  const memory = createMemoryImportStore({ nowMs: clock.monotonic })
  const store: MemoryImportStore = { ...memory, ...change(memory) }
  const homes = createFakeHomes()
  const log: string[] = []
  const write = (event: string, fields: object = {}): void => void log.push(`${event} ${JSON.stringify(fields)}`)
  const quiet: Log = { info: write, warn: write, error: write }
  const attestations = { look: async () => 'absent' as const, add: async () => undefined }
  const takeup = createImportTakeup({ store, gateway: homes, attestations, clock, log: quiet })
  const stage = async (importId: string, accountId: string): Promise<void> => {
    const { records } = await fileOf(() => [ledgerBody(), anAccount(accountId)], keys)
    const intake = intakeOf(keys, { store: memory, clock })
    for (const part of partsOf(records, 9, importId)) await intake.take(part)
  }
  const statusOf = (importId: string) => memory.imports.get(importId)?.head.status
  return { clock, memory, homes, log, takeup, stage, statusOf }
}

const OTHER = 'aaaaaaaa-3d47-4e58-8a69-0b1c2d3e4f50'

test('U2: a refused import whose actor does not reply delays no other', async () => {
  const { clock, memory, homes, takeup, stage, statusOf } = setUp()
  await stage(IMPORT_ID, 'silent')
  await stage(OTHER, 'alice')
  const stuck = memory.imports.get(IMPORT_ID)
  if (stuck === undefined) throw new Error('it was not staged')
  stuck.head = { ...stuck.head, status: 'refused', refusal: { kind: 'exists', field: 'x', detail: 'x' } }
  const silent = new Promise<never>(() => undefined)
  homes.fate = ({ actor }) => (actor.id === 'silent' ? silent : 'answered')
  await clock.pass(60_000)
  await takeup.look()
  await vi.waitFor(() => expect(statusOf(OTHER)).toBe('done'), PATIENTLY)
  expect(homes.asked.map(({ actor }) => actor.id)).toContain('silent')
  expect(stuck.settled).toBe(false)
  // Nor one that comes later, nor is it asked for twice.
  await stage('bbbbbbbb-3d47-4e58-8a69-0b1c2d3e4f50', 'bob')
  await clock.pass(60_000)
  await takeup.look()
  await vi.waitFor(() => expect(statusOf('bbbbbbbb-3d47-4e58-8a69-0b1c2d3e4f50')).toBe('done'), PATIENTLY)
  expect(homes.asked.filter(({ actor }) => actor.id === 'silent')).toHaveLength(1)
})

test('U2: the number of imports taken over is limited', async () => {
  let begun = 0
  const heads = Array.from({ length: 100 }, (_, at) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`)
  const { takeup } = setUp(() => ({
    takeOver: async (which) => (which === 'unfinished' ? heads : []),
    head: () => {
      begun += 1
      return new Promise(() => undefined)
    },
  }))
  await takeup.look()
  await takeup.look()
  expect(begun).toBe(64)
})

test('U3: an unreadable import is logged, and retried after half a minute even on request', async () => {
  let looked = 0
  const { clock, log, takeup, stage, statusOf } = setUp((memory) => ({
    part: async (importId, part) => {
      looked += 1
      if (looked < 3) throw new SyntaxError('what is staged')
      return memory.part(importId, part)
    },
  }))
  await stage(IMPORT_ID, 'alice')
  await takeup.drive(IMPORT_ID)
  expect([looked, log]).toEqual([1, [`import_failed {"import_id":"${IMPORT_ID}","failure":"SyntaxError"}`]])
  await clock.pass(29_999)
  await takeup.drive(IMPORT_ID)
  await takeup.look()
  expect(looked).toBe(1)
  await clock.pass(1)
  await takeup.look()
  await vi.waitFor(() => expect(log).toHaveLength(2), PATIENTLY)
  await takeup.drive(IMPORT_ID)
  expect(looked).toBe(2)
  await clock.pass(30_000)
  await takeup.look()
  await vi.waitFor(() => expect(statusOf(IMPORT_ID)).toBe('done'), PATIENTLY)
})

test('U3: after an unavailable database there is no pause', async () => {
  let failures = 1
  const { takeup, stage, statusOf } = setUp((memory) => ({
    head: async (importId) => {
      failures -= 1
      if (failures >= 0) throw new LedgerImportsUnavailable('away')
      return memory.head(importId)
    },
  }))
  await stage(IMPORT_ID, 'alice')
  await takeup.drive(IMPORT_ID)
  await takeup.drive(IMPORT_ID)
  expect(statusOf(IMPORT_ID)).toBe('done')
})
