/** What is known of messages that were dropped because their bodies do not open: how many. */
import type { Log } from '../../runtime/ports/log.ts'
import type { MessageDirection } from './message-bodies.ts'

export type CountUnread = (direction: MessageDirection) => void

/** Whoever may send messages decides how many there are: the log must not grow with each. */
const LOG_EVERY_MS = 10_000

/** A line says how many there were since the process began. `now`: monotonic milliseconds. */
export function createUnreadLog(log: Log, now: () => number = () => performance.now()): CountUnread {
  const total = { request: 0, reply: 0 }
  let quietUntilMs = Number.NEGATIVE_INFINITY
  return (direction) => {
    total[direction] += 1
    if (now() < quietUntilMs) return
    quietUntilMs = now() + LOG_EVERY_MS
    log.error('messages_not_opened', { requests: total.request, replies: total.reply })
  }
}
