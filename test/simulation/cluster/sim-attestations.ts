/**
 * The attesters of the simulated cluster. Their requests are statements to the database, beside the commits of shards. A
 * request whose reply was lost is repeated, under the same key.
 */
import type { Attestation } from '../../../runtime/ports/attestation-store.ts'
import { attestationStoreOn } from '../../support/memory/attestation-store-memory.ts'
import type { SeededRandom } from '../kernel/sim-random.ts'
import type { SimDatabase } from '../store/database.ts'

const PAUSE_MS = { from: 200, to: 3_000 }
const REPEAT_MS = { from: 100, to: 2_000 }
/** A statement that takes long holds back the pages of the event log. */
const EXECUTION_MS = { from: 0.1, to: 20 }
const LONG_EXECUTION_MS = { from: 100, to: 3_000 }
const LONG_SHARE = 0.3
const REVOKED_SHARE = 0.4
/** Of the replies, while faults last. */
const LOST_SHARE = 0.05
const SEAL = { keyId: 'key', signature: '' }

type AttestationEvent = 'created' | 'revoked'

export class SimAttestations {
  /** Names of the events whose requests were replied to, with the attestations. */
  readonly acknowledged = new Set<string>()
  private readonly database: SimDatabase
  private readonly random: SeededRandom
  private readonly schedule
  private readonly active: string[] = []
  private asked = 0
  private waiting = 0
  private isOver = false

  constructor(database: SimDatabase) {
    const { kernel } = database
    this.database = database
    this.random = kernel.random.fork('attestations')
    this.schedule = kernel.beside('attestations')
    this.askLater()
  }

  /** Nothing new is asked for. */
  heal(): void {
    this.isOver = true
  }

  /** Whether all requests were replied to. */
  isDone(): boolean {
    return this.isOver && this.waiting === 0
  }

  private askLater(): void {
    this.schedule(this.random.between(PAUSE_MS.from, PAUSE_MS.to), 'an attester asks', () => {
      if (this.isOver) return
      this.askLater()
      const nfts = this.database.rows.nftEvents.all()
      const { nftId } = nfts[this.random.integer(nfts.length)] ?? {}
      const revoked = this.random.chance(REVOKED_SHARE) ? this.active.shift() : undefined
      if (revoked !== undefined) this.request((commit) => this.revoke(commit, revoked))
      else if (nftId !== undefined) this.create(nftId)
    })
  }

  private create(nftId: string): void {
    this.asked += 1
    const number = this.asked
    const key = { idempotencyKey: `attestation ${number}`, payloadHash: '' }
    let attempts = 0
    this.request(async (commit) => {
      attempts += 1
      const attestation = this.attestationOf(nftId, `att_${number}_${attempts}`)
      const { attestationId } = attestation
      const created = await attestationStoreOn(this.database.attestations).create(attestation, key)
      if (created.kind === 'created') this.database.rows.events.writeAttestation(commit, 'attestation', attestationId)
      else this.database.kernel.count('attestation:repeated')
      return ['created', created.kind === 'created' ? attestationId : created.earlier.attestation.attestationId]
    })
  }

  private async revoke(commit: number, attestationId: string): Promise<readonly [AttestationEvent, string]> {
    const { attestations, kernel, rows } = this.database
    const isFirst = attestations.attestations.get(attestationId)?.revocation === null
    const revocation = { atMs: kernel.wallMs(), by: 'attester', reason: null, seal: SEAL }
    await attestationStoreOn(attestations).revoke(attestationId, revocation)
    if (isFirst) rows.events.writeAttestation(commit, 'revocation', attestationId)
    return ['revoked', attestationId]
  }

  private request(write: (commit: number) => Promise<readonly [AttestationEvent, string]>): void {
    this.waiting += 1
    const attempt = (): void =>
      this.statement(write, (reply) => {
        if (reply === undefined) {
          this.schedule(this.random.between(REPEAT_MS.from, REPEAT_MS.to), 'an attester repeats', attempt)
          return
        }
        const [event, attestationId] = reply
        if (event === 'created') this.active.push(attestationId)
        this.database.kernel.count(`attestation:${event}`)
        this.acknowledged.add(`attestation.${event} ${attestationId}`)
        this.waiting -= 1
      })
    attempt()
  }

  /** The statement has its number from its start on, and takes effect at its end, at the server that it was sent to. */
  private statement<T>(write: (commit: number) => Promise<T>, replied: (reply: T | undefined) => void): void {
    const { database, random } = this
    const { faults, rows, server } = database
    if (!server.accepted || random.chance(faults.callLost)) return replied(undefined)
    const commit = rows.events.begin()
    const { from, to } = random.chance(LONG_SHARE) ? LONG_EXECUTION_MS : EXECUTION_MS
    this.schedule(random.between(from, to), 'the statement of an attester ends', () => {
      const isLost = database.server.timeline !== server.timeline
      const written = isLost ? Promise.resolve(undefined) : write(commit)
      void written.then((reply) => {
        rows.events.end(commit)
        const isUnanswered = random.chance(faults.callAnswerLost + (this.isOver ? 0 : LOST_SHARE))
        replied(isUnanswered ? undefined : reply)
      })
    })
  }

  private attestationOf(nftId: string, attestationId: string): Attestation {
    const [subjectClass = '', subjectInstance = ''] = nftId.split('/')
    return {
      attestationId,
      attester: 'attester',
      subjectClass,
      subjectInstance,
      attestationType: 'condition',
      statement: 'like new',
      evidenceUrl: null,
      submittedBy: 'attester',
      attesterVerified: false,
      createdAtMs: this.database.kernel.wallMs(),
      seal: SEAL,
      revocation: null,
    }
  }
}
