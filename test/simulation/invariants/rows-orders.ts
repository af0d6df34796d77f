/**
 * The commands of a batch as its node drafted it, as text, so that the node's memory is not shared. A node has one
 * commit in flight: its latest draft is its next commit.
 */
import type { Answer } from '../../../actors/account/outcome.ts'
import type { ActorAddress } from '../../../actors/address.ts'
import type { AnyCommand } from '../../../actors/step-actor.ts'
import type { ShardDraft } from '../../../runtime/node/shard/draft.ts'
import type { Pending } from '../../../runtime/node/shard/pending-command.ts'
import type { CommitBatch, InboxMark, LedgerStore, ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import { isEqual } from './rows-equal.ts'

export interface OrderedCommand {
  readonly actor: ActorAddress
  readonly text: string
  /** The message's inbox mark; null for requests and timers. */
  readonly mark: InboxMark | null
  /** Refused before it was stepped. */
  readonly isForced: boolean
  /** The answer of its step; null if there was none or it comes later; `unclear`: one or the other. */
  readonly answer: Answer | null | 'unclear'
}

export interface OrderedShard {
  readonly commands: readonly OrderedCommand[]
  /** Answers concluded for waiting requests, by the actor or key that they wait for. */
  readonly concluded: ReadonlyMap<string, Answer>
}

export function commandOf({ text }: OrderedCommand): AnyCommand {
  return JSON.parse(text) as AnyCommand
}

/** The commands of all nodes, by the batches sent to the store. */
export class OrderBook {
  private readonly byBatch = new WeakMap<ShardBatch, OrderedShard>()

  of(batch: ShardBatch): OrderedShard | undefined {
    return this.byBatch.get(batch)
  }

  /** Wraps a node's store: records its drafts, and links them to the batches that it commits. */
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
    // The batch omits a shard whose receipts or rows failed.
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
  'hold_created',
  'group_registered',
  'token_registered',
  'class_registered',
])

/** A waiting request may get a conclusion of the same batch instead of its own step's answer. */
function ownAnswer(pending: Pending, answer: Answer, concluded: ReadonlyMap<string, Answer>): OrderedCommand['answer'] {
  const conclusion = concluded.get(pending.keyAddress ?? pending.actorKey)
  if (answer === conclusion) return null
  // Releases alone are concluded each time that they are asked for: an earlier conclusion of the batch says the same.
  if (pending.command.type === 'release_hold' && isEqual(answer, conclusion)) return null
  return PER_REQUEST_KINDS.has(answer.kind) && answer.kind === conclusion?.kind ? 'unclear' : answer
}
