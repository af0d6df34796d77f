/** A writer of checkpoints with a clock that the test moves. */
import { Checkpointer } from '../../infra/checkpoints/checkpointer.ts'
import { readLedgerAt } from '../../infra/postgres/migrations/migrate.ts'
import { createServiceKeys, type PostgresServiceKeys } from '../../infra/postgres/access/service-keys-postgres.ts'
import { createSystemClock } from '../../infra/system/clock-system.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { secretsOf } from './postgres/ledger-database.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export interface Writing {
  readonly write: () => Promise<string>
  readonly keys: PostgresServiceKeys
  readonly logged: readonly string[]
  readonly pass: (durationMs: number) => void
}

type Work<T> = (writing: Writing) => Promise<T>

/** The clock begins `startsAheadMs` ahead of the system's. */
export async function onWriter<T>(url: string, work: Work<T>, startsAheadMs = 0): Promise<T> {
  const record = await readLedgerAt(url)
  if (record === undefined) throw new Error('there is no ledger')
  const { derive, serviceKeys: seals } = await secretsOf(url)
  const system = createSystemClock()
  let aheadMs = startsAheadMs
  const clock: Clock = { ...system, now: () => system.now() + aheadMs }
  const keys = await createServiceKeys({ url, seals, clock, readStoreMs: () => Promise.resolve(clock.now()) })
  const logged: string[] = []
  const note = (event: string): void => void logged.push(event)
  const log: Log = { info: note, warn: note, error: note }
  const checkpointer = new Checkpointer({ url, ...record, derive, serviceKeys: keys, clock, log })
  try {
    return await work({
      write: () => checkpointer.writeOne(),
      keys,
      logged,
      pass: (durationMs) => void (aheadMs += durationMs),
    })
  } finally {
    await keys.close()
  }
}

/** From five minutes past an hour on: which checkpoints are the first of theirs is the same whenever the tests run. */
export function onWriterWithinHour<T>(url: string, work: Work<T>): Promise<T> {
  return onWriter(url, work, HOUR_MS - (Date.now() % HOUR_MS) + 5 * MINUTE_MS)
}
