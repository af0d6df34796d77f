/**
 * Who drives imports at this edge: whoever asks for one, and this edge for those that nobody has driven for a while.
 *   U1. An import is driven once at a time here; that others drive it elsewhere is harmless.
 *   U2. None waits for another: one whose homes do not answer keeps nothing but its own place.
 *   U3. What was tried and failed rests for a while, whoever asks for it.
 *   U4. What was begun is ended although nobody asks again; what nobody goes on with is dropped after a day.
 */
import type { Clock, Timer } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { LedgerImportsUnavailable } from '../../runtime/ports/ledger-imports.ts'
import { type DriverOptions, ImportDrive } from './import-driver.ts'
import { DriveStopped } from './import-homes.ts'

export interface ImportTakeup {
  readonly drive: (importId: string) => Promise<void>
  /** One look for what is to be done, which is then begun. Never rejects. */
  readonly look: () => Promise<void>
  readonly start: () => void
  readonly stop: () => Promise<void>
}

const LOOK_MS = 10_000
const UNATTENDED_MS = 30_000
/** Longer than anything that is asked of a home can be on its way, and than its asker may not have made sure (H1). */
const SETTLED_MS = 60_000
/** That this edge drives, or settles, of its own accord, each; more wait for a later look, of whichever edge. */
const AT_ONCE = 64
const STALE_MS = 86_400_000

export function createImportTakeup(options: Omit<DriverOptions, 'stopping'>): ImportTakeup {
  const { store, clock, log } = options
  const running = new Map<string, Promise<void>>()
  /** U3. Until when, by the monotonic clock. */
  const resting = new Map<string, number>()
  const own = { settling: new Set<string>(), driving: new Set<string>() }
  let stopped = false
  const driver: DriverOptions = { ...options, stopping: () => stopped }

  /** U1. */
  const once = (importId: string, work: (drive: ImportDrive) => Promise<void>): Promise<void> => {
    const under = running.get(importId)
    if (under !== undefined) return under
    if ((resting.get(importId) ?? 0) > clock.monotonic()) return Promise.resolve()
    const run = work(new ImportDrive(driver, importId))
      .then(
        () => void resting.delete(importId),
        (error: unknown) => {
          if (isAnError(error)) resting.set(importId, clock.monotonic() + UNATTENDED_MS)
          report(log, importId, error)
        },
      )
      .finally(() => running.delete(importId))
    running.set(importId, run)
    return run
  }
  const drive = (importId: string): Promise<void> => once(importId, (one) => one.run())

  /** U2. */
  const begin = (ids: readonly string[], mine: Set<string>, work: (importId: string) => Promise<void>): void => {
    for (const importId of ids) {
      if (mine.size === AT_ONCE) return
      if (mine.has(importId)) continue
      mine.add(importId)
      void work(importId).finally(() => mine.delete(importId))
    }
  }
  const settle = (importId: string): Promise<void> => once(importId, (one) => one.settle())

  const look = async (): Promise<void> => {
    const now = clock.monotonic()
    for (const [importId, until] of resting) if (until <= now) resting.delete(importId)
    try {
      await store.dropStale(STALE_MS)
      begin(await store.unsettled(SETTLED_MS), own.settling, settle)
      begin(await store.unattended(UNATTENDED_MS), own.driving, drive)
    } catch (error) {
      report(log, null, error)
    }
  }
  const looking = repeat(clock, look)
  return {
    drive,
    look,
    start: looking.start,
    stop: async () => {
      stopped = true
      looking.stop()
      await Promise.all(running.values())
    },
  }
}

/** Of the import: not that the edge stops, nor that the database is away. */
function isAnError(error: unknown): boolean {
  return !(error instanceof DriveStopped) && !(error instanceof LedgerImportsUnavailable)
}

/** Names and no messages: those may quote what an import holds. */
function report(log: Log, importId: string | null, error: unknown): void {
  if (error instanceof DriveStopped) return
  const fields = { importId, because: error instanceof Error ? error.name : 'unknown' }
  if (error instanceof LedgerImportsUnavailable) log.warn('import_interrupted', fields)
  else log.error('import_stuck', fields)
}

interface Repeating {
  readonly start: () => void
  readonly stop: () => void
}

/** Again `LOOK_MS` after the look before has ended. */
function repeat(clock: Clock, look: () => Promise<void>): Repeating {
  let timer: Timer | undefined
  let stopped = false
  const next = (): void => {
    if (stopped) return
    timer = clock.after(LOOK_MS, () => void look().finally(next))
  }
  return {
    start: next,
    stop: () => {
      stopped = true
      timer?.cancel()
    },
  }
}
