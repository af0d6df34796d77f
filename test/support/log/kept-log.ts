/** Extends the log of a database as an edge does, by a clock that the test moves. */
import { createLogStore, type PostgresLogStore } from '../../../infra/log/log-store-postgres.ts'
import { LogSequencer, type TreeHead } from '../../../runtime/log/sequencer.ts'
import { createManualClock } from '../manual-clock.ts'
import { until } from '../postgres/ledger-store-postgres.ts'

export interface KeptLog {
  readonly store: PostgresLogStore
  /** The names of what it logged. */
  readonly logged: readonly string[]
  readonly heads: readonly TreeHead[]
  /** Works until the condition holds. */
  readonly workUntil: (condition: () => boolean | Promise<boolean>) => Promise<void>
}

/** `logKey`: of the ledger, derived for entries of the log. */
export async function keepLog<T>(url: string, logKey: Buffer, work: (log: KeptLog) => Promise<T>): Promise<T> {
  const store = createLogStore({ url, logKey })
  const clock = createManualClock(0)
  const logged: string[] = []
  const heads: TreeHead[] = []
  const note = (event: string): void => void logged.push(event)
  const sequencer = new LogSequencer({
    store,
    holder: 'test',
    clock,
    log: { info: note, warn: note, error: note },
    onHead: (head) => void heads.push(head),
  })
  sequencer.start()
  try {
    return await work({
      store,
      logged,
      heads,
      workUntil: (condition) =>
        until(async () => {
          await clock.pass(500)
          return condition()
        }),
    })
  } finally {
    await sequencer.stop()
    await store.close()
  }
}
