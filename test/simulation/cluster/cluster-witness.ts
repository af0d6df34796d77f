/** Observes a node's messages: checks answers against the rows, and counts deliveries between nodes. */
import type { Delivery } from '../../../runtime/protocol/messages.ts'
import type { LedgerStore } from '../../../runtime/ports/ledger-store.ts'
import type { Transport } from '../../../runtime/ports/transport.ts'
import type { ClientChecker } from '../invariants/clients.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { SimDatabase } from '../store/database.ts'
import { isDelivery, subjectKind } from '../subjects.ts'
import { deliveriesIn } from '../../support/bodies.ts'

interface Witnesses {
  readonly kernel: Kernel
  readonly database: SimDatabase
  readonly clients: ClientChecker
}

/** `processId`: the process of the node's current session. */
export function watchedTransport(
  transport: Transport,
  { kernel, database, clients }: Witnesses,
  session: string,
  processId: string,
): Transport {
  const came = new Map<string, number>()
  const went = new Map<string, number>()
  const ownerOf = (shardId: number): string | null => database.shards.row(shardId).session
  /** Whether some of the messages have been delivered before. */
  const again = (passed: Map<string, number>, { source, target, messages }: Delivery): boolean => {
    const way = `${source} ${target}`
    const highest = passed.get(way) ?? 0
    passed.set(way, Math.max(highest, messages.at(-1)?.number ?? 0))
    return (messages[0]?.number ?? Infinity) <= highest
  }
  const receives = (delivery: Delivery): void => {
    kernel.count('delivery:came')
    if (again(came, delivery)) kernel.count('delivery:doubled')
    if (ownerOf(delivery.target) !== session) kernel.count('delivery:to_zombie')
  }
  const sends = (delivery: Delivery): void => {
    if (again(went, delivery)) kernel.count('delivery:sent_again')
    if (ownerOf(delivery.source) !== session) kernel.count('delivery:from_zombie')
  }
  return {
    ...transport,
    request: (subject, message, timeoutMs, onReply) => {
      if (isDelivery(subject)) deliveriesIn(message).forEach(sends)
      return transport.request(subject, message, timeoutMs, onReply)
    },
    serve: (subject, handler) =>
      transport.serve(subject, (message, reply) => {
        if (subjectKind(subject) === 'control') return handler(message, reply)
        if (!isDelivery(subject)) return handler(message, clients.watched(message, reply, processId))
        deliveriesIn(message).forEach(receives)
        return handler(message, reply)
      }),
  }
}

/** Counts the shards that are opened with undelivered messages. */
export function watchedStore(store: LedgerStore, kernel: Kernel): LedgerStore {
  return {
    ...store,
    openShard: async (shardId) => {
      const start = await store.openShard(shardId)
      if (start.outbox.length > 0) kernel.count('delivery:channel_opened_again')
      return start
    },
  }
}
