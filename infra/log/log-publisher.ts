/**
 * Signs heads of the log, has them signed by witnesses, and publishes those that meet the quorum.
 *   P1. A head is published with the signatures that the policy demands, or not at all: readers keep the last one that has
 *       them.
 *   P2. Each witness gets the proof from the size that it saw last. A witness that saw more than the log has, or finds that
 *       a head does not continue what it saw, is reported: the log has lost entries, or has other ones.
 *   P3. One head is on its way at a time, the newest. Its witnesses are asked at the same time. Once enough have signed, the
 *       others get `GRACE_MS`.
 *   P4. A head is given up if the log has a later one that a witness signed for another edge: the edge that has the lease
 *       publishes the newest.
 *   P5. While nothing is added, the head is published again with new signatures at a start and each minute: its readers see
 *       that it is the latest, and it meets the policy of the present configuration.
 */
import { meetsQuorum, type PolicyKey, type TrustPolicy } from '../../api/client/log/trust-policy.ts'
import { parseCount } from '../../api/client/log/checkpoint.ts'
import {
  type NoteSignature,
  noteText,
  parseNote,
  type SignedNote,
  verifySignatures,
} from '../../api/client/log/signed-note.ts'
import type { TreeHead } from '../../runtime/log/sequencer.ts'
import { TreeProofs } from '../../runtime/log/tree-proofs.ts'
import { type Clock, delay } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { type LogStore, LogStoreUnavailable } from '../../runtime/ports/log-store.ts'
import { type NoteSigner, signedHead } from './log-signer.ts'
import { WitnessFailures } from './witness-failures.ts'
import { CLOCK_TOLERANCE_MS, witnessRequestText } from './witness-request.ts'

/** The reply of a witness. Rejects if there is none, or when `stopped` is aborted. */
export type AskWitness = (url: string, body: string, stopped: AbortSignal) => Promise<WitnessReply>

export interface WitnessReply {
  readonly status: number
  readonly body: string
}

export interface PublisherDependencies {
  readonly store: Pick<LogStore, 'head' | 'hashes' | 'publish'>
  readonly signer: NoteSigner
  /** Undefined: no witness is asked. */
  readonly policy: TrustPolicy | undefined
  readonly ask: AskWitness
  readonly clock: Clock
  readonly log: Log
}

export interface PublisherMeasures {
  readonly publishedSize: number
  /** Milliseconds since the last time that everything in the log was published. */
  readonly ageMs: number
}

interface Cosigned {
  readonly signed: readonly (readonly [string, NoteSignature])[]
  readonly isOutdated: boolean
}

const UNASKED: Cosigned = { signed: [], isOutdated: false }
const RETRY_MS = 1_000
const REFRESH_MS = 60_000
/** A witness that does not reply must not hold up every head. */
const GRACE_MS = 500
const OK = 200
const CONFLICT = 409
const UNPROCESSABLE = 422

export class LogPublisher {
  private readonly dependencies: PublisherDependencies
  private readonly failures: WitnessFailures
  /** The size that each witness saw last, by its name in the policy. */
  private readonly seen = new Map<string, number>()
  private newest: TreeHead | undefined
  private publishedSize = 0
  private wholeAtMs: number
  /** When the head is published again (P5). */
  private refreshAtMs = 0
  private running: Promise<void> | undefined
  private readonly stopped = new AbortController()
  private failure: string | undefined
  private isUnwitnessed = false

  constructor(dependencies: PublisherDependencies) {
    this.dependencies = dependencies
    this.failures = new WitnessFailures(dependencies.log)
    this.wholeAtMs = dependencies.clock.monotonic()
  }

  /** Publishes this head, or a later one, unless it is published and not yet to be published again (P5). */
  take(head: TreeHead): void {
    this.newest = head
    this.running ??= this.run().then(() => {
      this.running = undefined
      // One that came in the moment of its end.
      if (this.isDue()) this.take(this.newest ?? head)
    })
  }

  private isDue(): boolean {
    const size = this.newest?.size ?? 0
    if (this.stopped.signal.aborted || size === 0) return false
    return size > this.publishedSize || this.dependencies.clock.monotonic() >= this.refreshAtMs
  }

  /** Waits for no witness: a start asks them again. */
  async stop(): Promise<void> {
    this.stopped.abort()
    await this.running
  }

  measures(): PublisherMeasures {
    const isWhole = this.publishedSize >= (this.newest?.size ?? 0)
    const ageMs = isWhole ? 0 : this.dependencies.clock.monotonic() - this.wholeAtMs
    return { publishedSize: this.publishedSize, ageMs }
  }

  private async run(): Promise<void> {
    const { clock, log } = this.dependencies
    while (this.isDue() && this.newest !== undefined) {
      const head = this.newest
      try {
        const isPublished = await this.publish(head)
        this.failure = undefined
        if (isPublished) {
          this.publishedSize = Math.max(this.publishedSize, head.size)
          this.refreshAtMs = clock.monotonic() + REFRESH_MS
          if (this.newest.size <= this.publishedSize) this.wholeAtMs = clock.monotonic()
          continue
        }
      } catch (error) {
        if (!(error instanceof LogStoreUnavailable)) throw error
        if (this.failure !== error.message) log.warn('log_not_published', { reason: error.message })
        this.failure = error.message
      }
      if (!this.stopped.signal.aborted) await delay(clock, RETRY_MS)
    }
  }

  /** False: too few witnesses signed. */
  private async publish(head: TreeHead): Promise<boolean> {
    const { store, signer, policy, log } = this.dependencies
    const note = signedHead(signer, { size: head.size, root: new Uint8Array(head.root) })
    const { signed, isOutdated } = policy === undefined ? UNASKED : await this.cosigned(policy, note, head)
    if (policy !== undefined && !meetsQuorum(policy, new Set(signed.map(([name]) => name)))) {
      if (isOutdated) return true
      if (this.stopped.signal.aborted) return false
      if (!this.isUnwitnessed) log.error('log_not_witnessed', { size: head.size, signed: signed.length })
      this.isUnwitnessed = true
      return false
    }
    // A warning, because `ledger up` shows no others, and would end with log_not_witnessed.
    if (this.isUnwitnessed) log.warn('log_witnessed', { size: head.size })
    this.isUnwitnessed = false
    const signatures = [...note.signatures, ...signed.map(([, signature]) => signature)]
    await store.publish({ size: head.size, note: noteText({ ...note, signatures }) })
    return true
  }

  /** The signatures by the names of their witnesses, and whether another edge has a later head (P4). */
  private async cosigned(policy: TrustPolicy, note: SignedNote, head: TreeHead): Promise<Cosigned> {
    const { clock } = this.dependencies
    const signed = new Map<string, NoteSignature>()
    let isOutdated = false
    let enough: () => void = () => undefined
    const isEnough = new Promise<void>((resolve) => {
      enough = resolve
    })
    const all = Promise.all(
      [...policy.witnesses].map(async ([name, witness]) => {
        const signature = await this.cosign(name, witness, note, head)
        if (signature === 'outdated') isOutdated = true
        else if (signature !== undefined) signed.set(name, signature)
        if (meetsQuorum(policy, new Set(signed.keys()))) enough()
      }),
    )
    await Promise.race([all, isEnough.then(() => delay(clock, GRACE_MS))])
    const inOrder = [...policy.witnesses.keys()].flatMap((name) => {
      const signature = signed.get(name)
      return signature === undefined ? [] : [[name, signature] as const]
    })
    return { signed: inOrder, isOutdated }
  }

  /** Undefined: the witness did not sign; the reason is in the log of the process. */
  private async cosign(
    name: string,
    witness: PolicyKey,
    note: SignedNote,
    head: TreeHead,
  ): Promise<NoteSignature | 'outdated' | undefined> {
    const { store, clock, log } = this.dependencies
    if (witness.url === undefined) return undefined
    const first = await this.asked(name, witness.url, note, head)
    const size = first?.status === CONFLICT ? parseCount(first.body.replace(/\n$/, '')) : undefined
    if (size !== undefined) this.seen.set(name, size)
    if (size !== undefined && size > head.size) {
      const { edge } = await store.head()
      if (edge.size >= size) return 'outdated'
      log.error('log_behind_witness', { witness: name, known: size, found: edge.size })
      return undefined
    }
    const reply = size === undefined ? first : await this.asked(name, witness.url, note, head)
    if (reply?.status === UNPROCESSABLE) {
      log.error('log_inconsistent', { witness: name, known: this.seen.get(name) ?? 0, found: head.size })
    }
    if (reply === undefined) return undefined
    if (reply.status !== OK) {
      // Another edge had a head signed between the two requests.
      if (reply.status !== CONFLICT || size === undefined) this.failures.refused(name, reply)
      return undefined
    }
    this.failures.ended(name)
    const found = await signatureIn(reply.body, note, witness)
    if (found === undefined) {
      log.warn('witness_signature_invalid', { witness: name })
      return undefined
    }
    this.seen.set(name, head.size)
    const aheadMs = found.atMs - clock.now()
    if (Math.abs(aheadMs) <= CLOCK_TOLERANCE_MS) return found.signature
    log.warn('witness_clock_wrong', { witness: name, ahead_ms: aheadMs })
    return undefined
  }

  private async asked(name: string, url: string, checkpoint: SignedNote, head: TreeHead) {
    const { ask } = this.dependencies
    const oldSize = Math.min(this.seen.get(name) ?? 0, head.size)
    const proof = await this.consistency(oldSize, head.size)
    const body = witnessRequestText({ oldSize, proof, checkpoint })
    const address = `${url.replace(/\/$/, '')}/add-checkpoint`
    try {
      return await ask(address, body, this.stopped.signal)
    } catch (error) {
      if (!this.stopped.signal.aborted) this.failures.silent(name, address, error)
      return undefined
    }
  }

  private async consistency(oldSize: number, size: number) {
    const { store } = this.dependencies
    const proofs = new TreeProofs(async (...tile) => {
      const hashes = await store.hashes(...tile)
      if (hashes === undefined) throw new LogStoreUnavailable('the log has no such tile')
      return hashes
    }, size)
    return (await proofs.consistency(oldSize)).map((hash) => new Uint8Array(hash))
  }
}

async function signatureIn(
  lines: string,
  { text }: SignedNote,
  { key }: PolicyKey,
): Promise<{ readonly signature: NoteSignature; readonly atMs: number } | undefined> {
  const note = parseNote(`${text}\n${lines}`)
  const own = note?.signatures.find(({ name, keyId }) => name === key.name && keyId === key.id)
  if (own === undefined) return undefined
  const [{ atMs } = { atMs: undefined }] = (await verifySignatures({ text, signatures: [own] }, [key])) ?? []
  return atMs === undefined ? undefined : { signature: own, atMs }
}
