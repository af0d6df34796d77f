/** The metrics of messages between edges and nodes. */
import { Counter, type Registry } from 'prom-client'
import { MESSAGE_DIRECTIONS, type MessageDirection } from '../nats/message-bodies.ts'

export function countUnreadMessages(registry: Registry): (direction: MessageDirection) => void {
  const unread = new Counter({
    name: 'ledger_messages_not_opened_total',
    help: 'Messages that were dropped because they could not be decrypted, by direction: foreign, altered, or sealed by another key.',
    labelNames: ['direction'],
    registers: [registry],
  })
  // Counters start at 0, so that Prometheus sees the first increment.
  for (const direction of MESSAGE_DIRECTIONS) unread.inc({ direction }, 0)
  return (direction) => unread.inc({ direction })
}
