/**
 * A staged import, its actors, and the edges that drive it. Tests can watch, delay or crash each external step of an
 * edge.
 */
import { expect } from 'vitest'
import type { ImportedAttestations } from '../../../infra/portability/import-attestations.ts'
import { ImportDrive } from '../../../infra/portability/import-driver.ts'
import { createImportTakeup, type ImportTakeup } from '../../../infra/portability/import-takeup.ts'
import type { Clock } from '../../../runtime/ports/clock.ts'
import type { GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import type { ImportOutcome, ImportPart } from '../../../runtime/ports/ledger-imports.ts'
import type { Log } from '../../../runtime/ports/log.ts'
import { createMemoryImportStore, type MemoryImportStore } from '../../support/memory/import-store-memory.ts'
import { createFakeHomes, type FakeHomes } from './fake-homes.ts'
import { IMPORT_ID, intakeOf, partsOf, type SentFile } from './import-scene.ts'

/** Actors of the file: GOLD and its issuer, a class, two NFTs, two accounts. */
const HOMES = ['alice', 'bob', 'class paintings', `instance`, 'mint', 'token gold']
export const PART_LINES = 3

/** Waits end immediately and advance the clock. */
function createHastyClock(): Clock & { elapse: (ms: number) => void } {
  let elapsedMs = 0
  return {
    now: () => 1_760_000_000_000 + elapsedMs,
    monotonic: () => elapsedMs,
    elapse: (ms) => void (elapsedMs += ms),
    after: (delayMs, run) => {
      let cancelled = false
      setImmediate(() => {
        if (cancelled) return
        elapsedMs += delayMs
        run()
      })
      return { cancel: () => void (cancelled = true) }
    },
  }
}

export interface World {
  readonly store: MemoryImportStore
  readonly homes: FakeHomes
  readonly attested: Map<string, number>
  /** The ledgers that attestations were said to come from. */
  readonly attestedBy: Set<string>
  readonly clock: ReturnType<typeof createHastyClock>
  readonly log: string[]
  /** Makes an edge. `step` is called before each of its external steps, and may throw. */
  readonly edge: (step?: () => void | Promise<void>) => Edge
}

interface Edge {
  readonly drive: () => Promise<void>
  readonly send: (part: ImportPart) => Promise<ImportOutcome>
  readonly takeup: ImportTakeup
}

export class Died extends Error {}

function createWorld(file: SentFile): World {
  const clock = createHastyClock()
  const store = createMemoryImportStore({ nowMs: clock.monotonic })
  const homes = createFakeHomes()
  const attested = new Map<string, number>()
  const attestedBy = new Set<string>()
  const log: string[] = []
  const write = (event: string, fields: object = {}): void => void log.push(`${event} ${JSON.stringify(fields)}`)
  const edge = (step: () => void | Promise<void> = () => undefined): Edge => {
    const attestations: Pick<ImportedAttestations, 'look' | 'add'> = {
      look: async (shown) => {
        await step()
        return attested.has(shown.attestation_id) ? 'present' : 'absent'
      },
      add: async ({ attestation_id: id }, ledgerId) => {
        await step()
        attestedBy.add(ledgerId)
        attested.set(id, (attested.get(id) ?? 0) + 1)
      },
    }
    const gateway = {
      ask: async (request: GatewayRequest) => {
        await step()
        return homes.ask(request)
      },
    }
    const watched = watchedStore(store, step)
    const quiet: Log = { info: write, warn: write, error: write }
    const options = {
      store: watched,
      gateway,
      attestations: { ...attestations, close: async () => undefined },
      clock,
      log: quiet,
    }
    const takeup = createImportTakeup(options)
    // The sender waits for the end.
    const patient = { ...clock, after: () => ({ cancel: () => undefined }) }
    const intake = intakeOf(file.keys, { store: watched, clock: patient, drive: takeup.drive })
    return {
      drive: () => new ImportDrive({ ...options, stopping: () => false }, IMPORT_ID).run(),
      send: (part) => intake.take(part),
      takeup,
    }
  }
  return { store, homes, attested, attestedBy, clock, log, edge }
}

/** Each call of the driver is a step, and takes effect only behind it. */
function watchedStore(store: MemoryImportStore, step: () => void | Promise<void>): MemoryImportStore {
  return {
    ...store,
    head: async (...args) => (await step(), store.head(...args)),
    change: async (...args) => (await step(), store.change(...args)),
    decide: async (...args) => (await step(), store.decide(...args)),
    part: async (...args) => (await step(), store.part(...args)),
    touch: async (...args) => (await step(), store.touch(...args)),
  }
}

/** An import with all parts, not driven yet. */
export async function stagedWorld(file: SentFile, parts = partsOf(file.records, PART_LINES)): Promise<World> {
  const world = createWorld(file)
  const never = intakeOf(file.keys, world)
  for (const part of parts) {
    const outcome = await never.take(part)
    expect(outcome).toMatchObject({ phase: part.last ? 'checking' : 'staging' })
  }
  return world
}

function homeNames({ homes }: World): readonly string[] {
  return [...homes.homes.keys()].map((key) => (key.startsWith('instance') ? 'instance' : key)).sort()
}

export function expectAllTaken(world: World): void {
  expect(world.store.imports.get(IMPORT_ID)?.head).toMatchObject({ status: 'done', refusal: null })
  expect([...new Set(homeNames(world))]).toEqual(HOMES)
  for (const [name, { held, taken, noted }] of world.homes.homes) {
    expect({ name, held, taken }).toEqual({ name, held: null, taken: 1 })
    expect({ name, noted }).toEqual({ name, noted: name === 'alice' ? 2 : 0 })
  }
  expect(world.attested.size).toBe(1)
}

export function expectNothingTaken(world: World): void {
  expect(world.store.imports.get(IMPORT_ID)?.head.status).toBe('refused')
  for (const [name, { held, taken }] of world.homes.homes) {
    expect({ name, held, taken }).toEqual({ name, held: null, taken: 0 })
  }
  expect(world.attested.size).toBe(0)
}

/** Checks that the import is done or refused, and passed only through the statuses before. */
export function expectAllOrNothing(world: World): void {
  if (world.store.imports.get(IMPORT_ID)?.head.status === 'done') expectAllTaken(world)
  else expectNothingTaken(world)
}

/** Crashes before the step with this number. */
export function dyingAt(number: number): { readonly step: () => void; readonly steps: () => number } {
  let count = 0
  return {
    step: () => {
      count += 1
      if (count > number) throw new Died()
    },
    steps: () => count,
  }
}

/** Delays every step at random, deterministically by seed. */
export function hesitating(seed: number): () => Promise<void> {
  let state = seed * 2_654_435_761 + 1
  return async () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    for (let turns = state % 5; turns > 0; turns -= 1) await new Promise(setImmediate)
  }
}
