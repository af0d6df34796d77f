/**
 * What no client waits for any more is not begun (I12): a client that was told that an outcome is unknown may count on
 * it that nothing of its request takes effect long after. So at the moment in which a batch is drafted none of its
 * items is past its deadline, as the ledger counts time, whatever its node has slept through.
 */
import type { ShardDraft } from '../../runtime/node/shard/draft.ts'
import type { Transport } from '../../runtime/ports/transport.ts'
import { subjectKind } from './subjects.ts'
import type { Demand } from './invariants-messages.ts'
import type { SimProcess } from './kernel-process.ts'
import type { Kernel } from './kernel.ts'
import { itemsIn } from '../support/bodies.ts'

export interface DeadlineWitness {
  /** Hears the deadlines of what comes. */
  readonly watched: (transport: Transport) => Transport
  readonly drafted: (drafts: readonly ShardDraft[]) => void
}

/** How far a node's idea of the store's time may be off: what its monotonic clock loses or gains between probes that fail. */
const TIME_ERROR_MS = 1_000

export function createDeadlineWitness(
  { wallMs }: Pick<Kernel, 'wallMs'>,
  { id }: Pick<SimProcess, 'id'>,
  demand: Demand,
) {
  const deadlines = new Map<string, number>()
  const witness: DeadlineWitness = {
    watched: (transport) => ({
      ...transport,
      serve: (subject, handler) =>
        transport.serve(subject, (message, reply) => {
          if (subjectKind(subject) === 'items') {
            for (const item of itemsIn(message)) {
              deadlines.set(nameOf(item), item.deadlineMs)
              deadlines.set(item.requestId, item.deadlineMs)
            }
          }
          handler(message, reply)
        }),
    }),
    drafted: (drafts) => {
      for (const { origin, forced, command } of drafts.flatMap(({ pendings }) => pendings)) {
        // What was found to be impossible to store is only told so.
        if (origin.kind !== 'request' || forced !== null) continue
        // A node that confuses attempts breaks another rule than this one.
        const { item } = origin
        const lateMs = wallMs() - (deadlines.get(nameOf(item)) ?? deadlines.get(item.requestId) ?? 0)
        demand(
          lateMs < TIME_ERROR_MS,
          `I12: ${id} steps ${command.type} (${nameOf(item)}) ${lateMs} ms past its deadline`,
        )
      }
    },
  }
  return witness
}

function nameOf({ requestId, attempt }: { readonly requestId: string; readonly attempt: number }): string {
  return `${requestId}.${attempt}`
}
