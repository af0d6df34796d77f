/** The first of an import's two phases, as its driver executes it: every home must hold its records. */
import { type ActorAddress, actorKey } from '../../../actors/address.ts'
import type { Answer } from '../../../actors/account/outcome.ts'
import type { Operation } from '../../../runtime/protocol/messages.ts'
import type { Import, SignedRecord } from '../reference/imports.ts'
import { CALLER, type Cast, STRANGER } from './cast.ts'

const LATE_MS = 1_500
const PAUSE_MS = { from: 50, to: 800 }

export class Holding {
  /** Records that exist already, by actor. */
  readonly present = new Set<string>()
  private readonly cast: Cast
  private readonly import: Import
  private readonly late: Promise<unknown>[] = []

  constructor(cast: Cast, one: Import) {
    this.cast = cast
    this.import = one
  }

  /** Whether every record is held or existed already. */
  async all(): Promise<boolean> {
    const { random } = this.cast
    const said = await Promise.all(
      this.import.records.map(async (record) => {
        await this.cast.pause(random.between(0, 200))
        // Another driver has decided: no more records are held.
        return this.import.status === 'applying' ? this.one(record) : 'refused'
      }),
    )
    await Promise.all(this.late)
    return !said.includes('refused')
  }

  private async one({ actor, from, arrival }: SignedRecord): Promise<string> {
    const { random, ask, world } = this.cast
    const operation: Operation = { kind: 'hold_arrival', from, arrival }
    if (random.chance(0.03)) void ask({ actor, caller: STRANGER, operation }, false)
    if (random.chance(0.12)) this.late.push(this.again(actor, operation))
    const answer = await verdict(this.cast, actor, operation)
    const said = answer.kind === 'arrival' ? answer.state : 'refused'
    if (said === 'present') this.present.add(actorKey(actor))
    world.kernel.count(`import:${arrival.kind} ${said}`)
    return said
  }

  private async again(actor: ActorAddress, operation: Operation): Promise<void> {
    await this.cast.pause(this.cast.random.between(0, LATE_MS))
    await this.cast.ask({ actor, caller: CALLER, operation }, false)
  }
}

/** Retries until there is a verdict. */
export async function verdict(cast: Cast, actor: ActorAddress, operation: Operation): Promise<Answer> {
  for (;;) {
    const outcome = await cast.ask({ actor, caller: CALLER, operation }, false)
    if (outcome?.kind === 'answered') return outcome.answer
    await cast.pause(cast.random.between(PAUSE_MS.from, PAUSE_MS.to))
  }
}
