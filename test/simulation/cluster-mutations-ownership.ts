/** Rules of who owns a shard, broken one each: what a node gives away, what it takes, and what an edge makes of a move. */
import type { ShardHost } from '../../runtime/node/shard-host.ts'
import type { LedgerStore } from '../../runtime/ports/ledger-store.ts'
import { NOT_DELIVERED, type Transport } from '../../runtime/ports/transport.ts'
import type { Routes } from '../../runtime/routes.ts'
import { encodeFrame, WIRE } from '../../runtime/wire.ts'
import type { SimProcess } from './kernel-process.ts'
import { controlCall } from './ownership-witness.ts'
import { subjectKind } from './subjects.ts'
import { itemsIn } from '../support/bodies.ts'

/** A shard counts as empty at once, whatever waits in it. */
export function releasingUnemptied(host: ShardHost): void {
  host.drain = (shardId) => Promise.resolve(host.serving().get(shardId))
}

/** Who is told of a shard serves it in the epoch that it was told, and takes nothing. */
export function servingOnWord(transport: Transport, store: LedgerStore, host: () => ShardHost): Transport {
  return {
    ...transport,
    serve: (subject, handler) =>
      transport.serve(subject, (message, reply) => {
        const call = subjectKind(subject) === 'control' ? controlCall(message) : undefined
        if (call?.kind !== 'released') return handler(message, reply)
        const { shardId, epoch } = call
        void store.openShard(shardId).then(
          (start) => {
            host().serve({ shardId, epoch, attempt: 0 }, start)
            reply(encodeFrame(WIRE.writes, { served: true }))
          },
          () => reply(encodeFrame(WIRE.writes, { served: false })),
        )
        return undefined
      }),
  }
}

/** Before the edge gives such attempts up by itself. */
const MOVED_AFTER_MS = 50

/** What was sent to the owner before, and has no answer yet, counts as turned away once the shard has another. */
export function takingMovesForRefusals(transport: Transport, routes: Routes, { later }: SimProcess): Transport {
  const open = new Set<() => void>()
  routes.onMove(() => {
    later(MOVED_AFTER_MS, 'takes a move for a refusal', () => open.forEach((look) => look()), 'timer')
  })
  return {
    ...transport,
    request: (subject, message, timeoutMs, onReply) => {
      const items = itemsIn(message)
      const look = (): void => {
        const hasMoved = items.some(({ shardId, epoch }) => (routes.find(shardId)?.epoch ?? 0) > epoch)
        if (!hasMoved) return
        open.delete(look)
        onReply(NOT_DELIVERED)
      }
      open.add(look)
      const request = transport.request(subject, message, timeoutMs, (reply) => {
        if (reply === NOT_DELIVERED) open.delete(look)
        onReply(reply)
      })
      return {
        close: () => {
          open.delete(look)
          request.close()
        },
      }
    },
  }
}
