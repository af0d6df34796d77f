/**
 * The successive servers of the simulated database. The real half is in infra/postgres/store/identity.ts and
 * accepted-servers.ts, which define N1, N3 and A1.
 *   S1. A promoted standby starts a timeline of its own, and has only the changes that reached it.
 *   S2. The accepted timelines are a row like any other: each server has its own list.
 */
import {
  createMemoryAttestationState,
  type MemoryAttestationState,
} from '../../support/memory/attestation-store-memory.ts'
import { copyOfLog, createMemoryLogState, type MemoryLogState } from '../../support/memory/log-store-memory.ts'
import { createMemoryWebhookState, type MemoryWebhookState } from '../../support/memory/webhook-store-memory.ts'
import type { Rows, ShardRow } from './rows.ts'

/** A session's view of the server that it is connected to. */
export interface SimServer {
  readonly timeline: number
  /** Whether the ledger may run on it. */
  readonly accepted: boolean
  /** A session found commits missing (A2). */
  readonly wentBack: boolean
}

/** A server's stored data. */
export interface Stored {
  readonly rows: Rows
  readonly shardRows: Map<number, ShardRow>
  readonly accepted: Set<number>
  readonly wentBack: Set<number>
  readonly webhooks: MemoryWebhookState
  readonly attestations: MemoryAttestationState
  readonly log: MemoryLogState
}

/** As in production: more than takeovers ever raise an epoch. */
export const EPOCH_LEAP = 2 ** 20

const FIRST_TIMELINE = 1

export class SimServers {
  stored: Stored
  private timeline = FIRST_TIMELINE
  private latest = FIRST_TIMELINE
  private lost: { readonly timeline: number; readonly stored: Stored } | undefined

  constructor(rows: Rows, shardRows: Map<number, ShardRow>) {
    const accepted = new Set([FIRST_TIMELINE])
    this.stored = {
      rows,
      shardRows,
      accepted,
      wentBack: new Set(),
      webhooks: createMemoryWebhookState(),
      attestations: createMemoryAttestationState(),
      log: createMemoryLogState(),
    }
  }

  get server(): SimServer {
    const { accepted, wentBack } = this.stored
    return {
      timeline: this.timeline,
      accepted: accepted.has(this.timeline),
      wentBack: wentBack.has(this.timeline),
    }
  }

  /** The state of a standby that receives no more changes from now on. */
  copy(): Stored {
    const { rows, shardRows, accepted, wentBack, webhooks, attestations, log } = this.stored
    const copied = new Map([...shardRows].map(([shardId, row]) => [shardId, { ...row }]))
    return {
      rows: rows.copy([...shardRows.keys()]),
      shardRows: copied,
      accepted: new Set(accepted),
      wentBack: new Set(wentBack),
      webhooks: structuredClone(webhooks),
      attestations: structuredClone(attestations),
      log: copyOfLog(log),
    }
  }

  /** S1. A standby that has everything is this server itself, on another timeline. */
  promote(standby: Stored | undefined): void {
    this.lost = standby === undefined ? undefined : { timeline: this.timeline, stored: this.stored }
    this.latest += 1
    this.timeline = this.latest
    this.stored = standby ?? this.stored
  }

  /** The lost server replaces the promoted standby. Returns false if there is none. */
  comeBack(): boolean {
    if (this.lost === undefined) return false
    this.timeline = this.lost.timeline
    this.stored = this.lost.stored
    this.lost = undefined
    return true
  }

  /** A2: a session found commits missing, so no session may use this server. */
  withdraw(): void {
    this.stored.wentBack.add(this.timeline)
  }

  accept(): void {
    this.stored.accepted.add(this.timeline)
    this.stored.wentBack.delete(this.timeline)
    this.lost = undefined
  }
}

/** Why a session refuses this server (N1, N3); undefined if it may continue. */
export function refusalOf(
  first: SimServer | undefined,
  { timeline, accepted, wentBack }: SimServer,
): string | undefined {
  if (wentBack) return 'the database went back: a session found that commits are missing'
  if (!accepted) return `the server is on timeline ${timeline}, which this ledger was not accepted on`
  if (first === undefined || first.timeline === timeline) return undefined
  return `the server is not the one seen before: its timeline was ${first.timeline} and is ${timeline}`
}
