/** What a shard host can say of itself to whoever watches it. */
import type { Verdict } from '../messages.ts'
import type { ItemFate } from '../ports/metrics.ts'
import type { CourierMeasures } from './delivery/courier.ts'
import type { Incarnation } from './incarnation.ts'

/** Now: commands that have no verdict, those of them that wait for a look-up or a conclusion; messages; actors; shards. */
export interface HostMeasures extends CourierMeasures {
  readonly mailboxes: number
  readonly lookUps: number
  readonly parked: number
  readonly residents: number
  readonly owned: number
  readonly quarantined: number
}

export function measuresOf(
  incarnations: ReadonlyMap<number, Incarnation>,
  broken: ReadonlySet<number>,
  courier: CourierMeasures,
): HostMeasures {
  const counted = { mailboxes: 0, lookUps: 0, parked: 0, residents: 0 }
  for (const { mailbox, lookingUp, parked, residents } of incarnations.values()) {
    counted.mailboxes += mailbox.size
    counted.lookUps += lookingUp
    counted.residents += residents.size
    for (const waiting of parked.values()) counted.parked += waiting.size
  }
  return { ...counted, ...courier, owned: incarnations.size, quarantined: broken.size }
}

/** Of an item that has come; undefined: it has no verdict yet. */
export function fateOf(verdict: Verdict | undefined): ItemFate {
  switch (verdict?.kind) {
    case undefined:
      return 'entered'
    case 'moved':
    case 'overloaded':
      return verdict.kind
    case 'answered':
    case 'undecided':
    case 'not_applied':
    case 'unsupported_version':
      return 'rejected'
  }
}
