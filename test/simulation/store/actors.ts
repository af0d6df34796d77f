/** Actors of the simulated database other than accounts, as sealed copies that readers cannot change. */
import { type ActorAddress, actorKey } from '../../../actors/address.ts'
import type { ActorState } from '../../../actors/actor-state.ts'
import { sealedCopy } from '../cluster/sealed.ts'
import { type ClassFacts, classFactsOf } from '../../../actors/nft-class/state.ts'
import type { DueActor, HomedActor, ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import { broken, copyShard, itself, type RowRefusal } from './table.ts'
import { signedUnits, type ValueSink } from './value.ts'

interface ActorRow {
  readonly shardId: number
  readonly address: ActorAddress
  readonly version: number
  readonly dueAtMs: number | null
  readonly state: ActorState
}

export class ActorTable {
  /** By shard and actor. */
  private readonly rows = new Map<string, ActorRow>()
  /** By class ID, across shards: the unique index. */
  private readonly classes = new Map<string, ActorRow>()
  private readonly counted: ValueSink

  constructor(counted: ValueSink) {
    this.counted = counted
  }

  state({ shardId, address }: HomedActor): ActorState | undefined {
    return this.rows.get(rowKey(shardId, address))?.state
  }

  /** All states, with their shards. */
  all(): readonly { readonly shardId: number; readonly state: ActorState }[] {
    return [...this.rows.values()].map(({ shardId, state }) => ({ shardId, state }))
  }

  /** undefined while the registration is not final. */
  classFacts(classId: string): ClassFacts | undefined {
    const state = this.classes.get(classId)?.state
    return state?.kind === 'class' ? classFactsOf(state) : undefined
  }

  isMinted(instance: HomedActor): boolean {
    const state = this.state(instance)
    return state?.kind === 'instance' && state.status !== 'minting'
  }

  /** In no order. */
  due(shardId: number, untilMs: number): readonly DueActor[] {
    const found: DueActor[] = []
    for (const { shardId: home, address, dueAtMs } of this.rows.values()) {
      if (home === shardId && dueAtMs !== null && dueAtMs <= untilMs) found.push({ shardId, address, dueAtMs })
    }
    return found
  }

  check(batch: ShardBatch): RowRefusal | undefined {
    const written = new Set<string>()
    for (const { address, previousVersion, state } of batch.actors) {
      const at = rowKey(batch.token.shardId, address)
      const stored = this.rows.get(at)?.version ?? 0
      if (written.has(at)) return broken(`${at}: written twice`)
      if (stored !== previousVersion)
        return broken(`${at}: computed from version ${previousVersion}, stored is ${stored}`)
      if (state?.kind === 'class' && this.isTaken(state.classId, at)) return broken(`${at}: its ID is another class's`)
      written.add(at)
    }
    return undefined
  }

  apply(batch: ShardBatch): void {
    const { shardId } = batch.token
    for (const { address, state } of batch.actors) {
      const at = rowKey(shardId, address)
      const before = this.rows.get(at)
      if (before !== undefined) this.forget(before.state)
      if (state === null) {
        this.rows.delete(at)
        continue
      }
      const { version, dueAtMs } = state
      const row = { shardId, address: { ...address }, version, dueAtMs, state: sealedCopy(state) }
      this.rows.set(at, row)
      if (state.kind === 'class') this.classes.set(state.classId, row)
      this.countSupply(state, 1n)
    }
  }

  copyShard(shardId: number, copy: ActorTable): void {
    copyShard(this.rows, copy.rows, shardId, itself)
    for (const [classId, row] of this.classes) if (row.shardId === shardId) copy.classes.set(classId, row)
  }

  private isTaken(classId: string, at: string): boolean {
    const row = this.classes.get(classId)
    return row !== undefined && rowKey(row.shardId, row.address) !== at
  }

  private forget(state: ActorState): void {
    this.countSupply(state, -1n)
    if (state.kind === 'class') this.classes.delete(state.classId)
  }

  private countSupply(state: ActorState, sign: bigint): void {
    if (state.kind !== 'token' || state.status === 'preparing') return
    this.counted('supply', state.tokenId, sign * signedUnits(state.totalSupply))
  }
}

function rowKey(shardId: number, address: ActorAddress): string {
  return `${shardId} ${actorKey(address)}`
}
