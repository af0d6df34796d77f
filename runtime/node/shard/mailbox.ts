/** Commands of a shard without a verdict, in order; counted by actor, so that one actor cannot fill the mailbox. */
import { TransientMap } from '../../common/transient-map.ts'
import type { Pending } from './pending-command.ts'

export class Mailbox {
  /** By command number. */
  private readonly commands = new TransientMap<number, Pending>()
  private readonly byActor = new Map<string, number>()

  get size(): number {
    return this.commands.size
  }

  sizeOf(actorKey: string): number {
    return this.byActor.get(actorKey) ?? 0
  }

  add(pending: Pending): void {
    if (this.has(pending)) return
    this.commands.set(pending.number, pending)
    this.byActor.set(pending.actorKey, this.sizeOf(pending.actorKey) + 1)
  }

  delete(pending: Pending): void {
    if (!this.commands.delete(pending.number)) return
    const left = this.sizeOf(pending.actorKey) - 1
    if (left === 0) this.byActor.delete(pending.actorKey)
    else this.byActor.set(pending.actorKey, left)
  }

  has(pending: Pending): boolean {
    return this.commands.has(pending.number)
  }

  clear(): void {
    this.commands.clear()
    this.byActor.clear()
  }

  [Symbol.iterator](): IterableIterator<Pending> {
    return this.commands.values()
  }
}
