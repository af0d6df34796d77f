/** PostgreSQL's time for a process that runs once, such as a command: its machine's clock has no effect. */
import { createLedgerClock } from '../../../runtime/common/ledger-clock.ts'
import type { Clock } from '../../../runtime/ports/clock.ts'
import { createSystemClock } from '../../system/clock-system.ts'
import { connect } from '../connection/connection.ts'
import { readNowMs } from './sessions.ts'

/** Reads the time once and advances it by the monotonic clock. Rejects with the error of the driver or the network. */
export async function openStoreClock(url: string): Promise<Clock> {
  const clock = createLedgerClock(createSystemClock())
  const { sql, end } = await connect({ url, applicationName: 'ledger:clock' })
  try {
    const askedMs = clock.monotonic()
    clock.observe(await readNowMs(sql), askedMs, clock.monotonic())
  } finally {
    await end()
  }
  return clock
}
