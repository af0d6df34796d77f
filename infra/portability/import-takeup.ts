/**
 * Drives imports at this edge: on request, and by taking over imports that no edge has driven for a while.
 *   U1. This edge runs one drive per import. Drives at other edges are harmless.
 *   U2. Imports do not wait for each other. One whose actors do not reply occupies only its own slot.
 *   U3. After a failure an import is not driven for a while, even on request.
 *   U4. Complete imports end without further requests. Incomplete ones are dropped after a day without a new part.
 */
import { repeat } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { LedgerImportsUnavailable } from '../../runtime/ports/ledger-imports.ts'
import { type DriverOptions, ImportDrive } from './import-driver.ts'
import { DriveStopped } from './import-homes.ts'

export interface ImportTakeup {
  readonly drive: (importId: string) => Promise<void>
  /** Finds imports to take over, and begins to drive them. Never rejects. */
  readonly look: () => Promise<void>
  readonly start: () => void
  readonly stop: () => Promise<void>
}

const LOOK_MS = 10_000
const UNATTENDED_MS = 30_000
/** Longer than a request to an actor can be in flight, plus the time between two checks of H1. */
const SETTLED_MS = 60_000
/** Imports that this edge has taken over to drive, and as many to settle. Others wait for a later look of any edge. */
const AT_ONCE = 64
const STALE_MS = 86_400_000

export function createImportTakeup(options: Omit<DriverOptions, 'stopping'>): ImportTakeup {
  const { store, clock, log } = options
  const running = new Map<string, Promise<void>>()
  /** U3. End of the pause by import, by the monotonic clock. */
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
          if (isImportError(error)) resting.set(importId, clock.monotonic() + UNATTENDED_MS)
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
      begin(await store.takeOver('unsettled', SETTLED_MS), own.settling, settle)
      begin(await store.takeOver('unfinished', UNATTENDED_MS), own.driving, drive)
    } catch (error) {
      report(log, null, error)
    }
  }
  let looking: ReturnType<typeof repeat> | undefined
  return {
    drive,
    look,
    start: () => {
      looking = repeat(clock, LOOK_MS, look)
    },
    stop: async () => {
      stopped = true
      looking?.stop()
      await Promise.all(running.values())
    },
  }
}

/** Whether the import itself failed: not a stopping edge, nor an unavailable database. */
function isImportError(error: unknown): boolean {
  return !(error instanceof DriveStopped) && !(error instanceof LedgerImportsUnavailable)
}

/** Logs names only: messages may quote content of an import. */
function report(log: Log, importId: string | null, error: unknown): void {
  if (error instanceof DriveStopped) return
  const fields = { import_id: importId, failure: error instanceof Error ? error.name : 'unknown' }
  if (error instanceof LedgerImportsUnavailable) log.warn('import_interrupted', fields)
  else log.error('import_failed', fields)
}
