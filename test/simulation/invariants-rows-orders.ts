/**
 * Which commands made a batch, as its node drafted it: as text, so that nothing is shared with the node's memory.
 * A node has one commit in flight: what it drafted last is what it commits next.
 */
import type { Answer } from '../../actors/account/outcome.ts'
import type { ActorAddress } from '../../actors/address.ts'
import type { AnyCommand } from '../../actors/step-actor.ts'
import type { ShardDraft } from '../../runtime/node/shard/draft.ts'
import type { Pending } from '../../runtime/node/shard/pending-command.ts'
import type { CommitBatch, InboxMark, LedgerStore, ShardBatch } from '../../runtime/ports/ledger-store.ts'

export interface OrderedCommand {
  readonly actor: ActorAddress
  readonly text: string
  /** Under which it was taken in; null for what is no message. */
  readonly mark: InboxMark | null
  /** Decided before it was stepped: it was not. */
  readonly isForced: boolean
  /** What its step said; null where it said nothing, or that the answer comes later; `unclear`: one or the other. */
  readonly answer: Answer | null | 'unclear'
}

export interface OrderedShard {
  readonly commands: readonly OrderedCommand[]
  /** What was concluded for those who waited, by what they waited for. */
  readonly concluded: ReadonlyMap<string, Answer>
}

export function commandOf({ text }: OrderedCommand): AnyCommand {
  return JSON.parse(text) as AnyCommand
}

/** The orders of all nodes, by what they sent to the store. */
export class OrderBook {
  private readonly byBatch = new WeakMap<ShardBatch, OrderedShard>()

  of(batch: ShardBatch): OrderedShard | undefined {
    return this.byBatch.get(batch)
  }

  /** What a node is given to note its drafts, and its store, which notes what it is then made to commit. */
  watched(store: LedgerStore): {
    readonly store: LedgerStore
    readonly drafted: (drafts: readonly ShardDraft[]) => void
  } {
    let latest: readonly ShardDraft[] = []
    return {
      drafted: (drafts) => {
        latest = drafts
      },
      store: {
        ...store,
        commit: (batch) => {
          this.note(batch, latest)
          return store.commit(batch)
        },
      },
    }
  }

  private note({ shards }: CommitBatch, drafts: readonly ShardDraft[]): void {
    // The batch leaves out a shard whose receipts or rows could not be made.
    for (const batch of shards) {
      const draft = drafts.find(({ incarnation }) => incarnation.token.shardId === batch.token.shardId)
      if (draft !== undefined) this.byBatch.set(batch, orderOf(draft))
    }
  }
}

function orderOf({ pendings, answers, concluded }: ShardDraft): OrderedShard {
  const said = new Map<Pending, OrderedCommand['answer']>()
  for (const [pending, verdict] of answers) {
    if (verdict.kind === 'answered') said.set(pending, ownAnswer(pending, verdict.answer, concluded))
  }
  const commands = pendings.map((pending): OrderedCommand => {
    const { actor, command, origin, forced } = pending
    return {
      actor,
      text: JSON.stringify(command),
      mark: origin.kind === 'message' ? { source: origin.source, mark: origin.number } : null,
      isForced: forced !== null,
      answer: said.get(pending) ?? null,
    }
  })
  return { commands, concluded: new Map(concluded) }
}

/** Replies of these kinds tell each waiting request whether that request caused the effect. */
const PER_REQUEST_KINDS: ReadonlySet<Answer['kind']> = new Set([
  'minted',
  'group_registered',
  'token_registered',
  'class_registered',
])

/** A conclusion that was told in the same batch is not what the step of who is told it said. */
function ownAnswer(pending: Pending, answer: Answer, concluded: ReadonlyMap<string, Answer>): OrderedCommand['answer'] {
  const conclusion = concluded.get(pending.keyAddress ?? pending.actorKey)
  if (answer === conclusion) return null
  return PER_REQUEST_KINDS.has(answer.kind) && answer.kind === conclusion?.kind ? 'unclear' : answer
}
