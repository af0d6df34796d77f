/**
 * The wire versions that each process writes and reads. Each start picks a release at random, so that a restart may
 * upgrade or downgrade a process beside others. Adjacent releases must not refuse each other's bodies.
 */
import { WIRE, type Wire } from '../../../runtime/protocol/wire.ts'
import { READS_NEXT, WRITES_NEXT } from '../../support/nats/next-wire.ts'
import type { SimProcess } from '../kernel/kernel-process.ts'
import type { Kernel } from '../kernel/kernel.ts'

export interface ClusterWires {
  readonly of: (process: SimProcess) => Wire
  /** Whether the mix of releases explains this log event. */
  readonly explains: (event: string) => boolean
  /** If the releases are apart, each start from now on gets the later one. Returns whether processes must be restarted. */
  readonly upgrade: () => boolean
}

/** `apart`: two releases that must not run beside each other; `upgrade` replaces the earlier one. */
export type WireMix = 'next_to_each_other' | 'apart'

const RELEASES: Readonly<Record<WireMix, readonly [Wire, Wire]>> = {
  next_to_each_other: [READS_NEXT, WRITES_NEXT],
  apart: [WIRE, WRITES_NEXT],
}
const EVENTS_APART: ReadonlySet<string> = new Set(['version_unsupported', 'channel_parked'])

export function createClusterWires({ random, count }: Kernel, mix: WireMix): ClusterWires {
  const releases = RELEASES[mix]
  let upgraded = false
  return {
    of: (process) => {
      const wire = upgraded ? releases[1] : random.fork(`wire ${process.id}`).pick(releases)
      return {
        ...wire,
        readEnvelope: (written) => {
          const read = wire.readEnvelope(written)
          count(`wire:${written.version} ${read === undefined ? 'unread' : 'read'} by ${wire.writes}`)
          return read
        },
      }
    },
    explains: (event) => mix === 'apart' && EVENTS_APART.has(event),
    upgrade: () => {
      upgraded = mix === 'apart'
      return upgraded
    },
  }
}
