/**
 * Expired requests are not begun (I12). A client whose outcome is unknown may rely on this: its request takes no effect
 * long after its deadline. So no item of a batch is past its deadline in ledger time when the batch is drafted, however
 * long its node was paused.
 */
import type { ShardDraft } from '../../../runtime/node/shard/draft.ts'
import type { Transport } from '../../../runtime/ports/transport.ts'
import { subjectKind } from '../subjects.ts'
import type { Demand } from '../invariants/messages.ts'
import type { SimProcess } from '../kernel/kernel-process.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { itemsIn } from '../../support/bodies.ts'

export interface DeadlineWitness {
  /** Records the deadlines of received items. */
  readonly watched: (transport: Transport) => Transport
  readonly drafted: (drafts: readonly ShardDraft[]) => void
}

/** Largest error of a node's estimate of the store's time: drift of its monotonic clock between failed probes. */
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
        // A forced refusal does not step the command.
        if (origin.kind !== 'request' || forced !== null) continue
        // A node that confuses attempts breaks another rule.
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
