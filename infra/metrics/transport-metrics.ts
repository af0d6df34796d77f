/** The metrics of what edges and nodes send to each other. */
import { Counter, type Registry } from 'prom-client'
import { MESSAGE_DIRECTIONS, type MessageDirection } from '../nats/message-bodies.ts'

export function countUnreadMessages(registry: Registry): (direction: MessageDirection) => void {
  const unread = new Counter({
    name: 'ledger_messages_not_opened_total',
    help: 'Messages that were dropped because their seal does not open, by direction: foreign, altered, or of another key.',
    labelNames: ['direction'],
    registers: [registry],
  })
  // Shown from the start, so that the first of each is seen as a change.
  for (const direction of MESSAGE_DIRECTIONS) unread.inc({ direction }, 0)
  return (direction) => unread.inc({ direction })
}
