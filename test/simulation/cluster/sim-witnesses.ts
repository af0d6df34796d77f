/**
 * Three witnesses of the simulated cluster, of which two suffice: production judgement over a simulated network and files that
 * survive their process. They stop, pause and restart, also two or all at a time. An attacker with the ledger's key asks them
 * to sign other histories.
 */
import type { TrustPolicy } from '../../../api/client/log/trust-policy.ts'
import type { NoteKey, NoteKeyKind } from '../../../api/client/log/signed-note.ts'
import type { AskWitness, WitnessReply } from '../../../infra/log/log-publisher.ts'
import { type NoteSigner, signedHead } from '../../../infra/log/log-signer.ts'
import { Witness, type WitnessedHead, type WitnessOptions } from '../../../infra/log/witness.ts'
import { replyOf } from '../../../infra/log/witness-app.ts'
import { parseWitnessRequest, witnessRequestText } from '../../../infra/log/witness-request.ts'
import type { Breaks } from '../breaks.ts'
import type { LogChecker, LogKeys } from '../invariants/log.ts'
import { simNoteSignature } from '../kernel/sim-crypto.ts'
import type { Schedule, SimProcess } from '../kernel/kernel-process.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { SeededRandom } from '../kernel/sim-random.ts'

const NAMES = ['witness-a', 'witness-b', 'witness-c'] as const
const QUORUM = 2
const ORIGIN = 'ledger/simulated'

const TIMEOUT_MS = 5_000
const TRIP_MS = { from: 0.5, to: 30 }
const LATE_MS = { from: 1_000, to: 8_000 }
const SAVE_MS = { from: 0.1, to: 20 }
const BLOW_EVERY_MS = { from: 500, to: 12_000 }
const DOWN_MS = { from: 200, to: 10_000 }
const ATTACK_EVERY_MS = { from: 1_000, to: 8_000 }
/** Of the requests and replies, while faults last. */
const MOST_SHARE = 0.1
/** Runs with a witness that stays down. */
const DEAD_SHARE = 0.3

interface SimWitness {
  readonly signer: NoteSigner
  /** The content of its file, by origins. */
  readonly file: Map<string, WitnessedHead>
  /** A head that its process is writing. */
  writing: WitnessedHead | undefined
  process: SimProcess
  witness: Pick<Witness, 'add'>
}

export interface SimWitnessesOptions {
  readonly kernel: Kernel
  readonly random: SeededRandom
  readonly schedule: Schedule
  readonly breaks: Breaks
  readonly checker: () => LogChecker
}

export class SimWitnesses {
  readonly log: NoteSigner = simNoteSigner(ORIGIN, 'log')
  readonly keys: LogKeys
  readonly policy: TrustPolicy
  private readonly options: SimWitnessesOptions
  private readonly witnesses: ReadonlyMap<string, SimWitness>
  private readonly faultShare: number
  private isFaulty = true
  private dead: string | undefined

  constructor(options: SimWitnessesOptions) {
    const { random } = options
    this.options = options
    this.faultShare = random.between(0, MOST_SHARE)
    this.witnesses = new Map(NAMES.map((name) => [name, this.created(name)]))
    const keys = [...this.witnesses].map(([name, { signer }]) => [name, signer.key] as const)
    this.policy = {
      logs: [{ key: this.log.key, url: undefined }],
      witnesses: new Map(keys.map(([name, key]) => [name, { key, url: name }])),
      groups: new Map([['quorum', { threshold: QUORUM, members: NAMES }]]),
      quorum: 'quorum',
    }
    this.keys = {
      origin: ORIGIN,
      log: this.log.key.publicKey,
      witnesses: new Map(keys.map(([name, { publicKey }]) => [name, publicKey])),
      quorum: QUORUM,
    }
    this.blowLater()
    this.attackLater()
  }

  /** All run, but perhaps one. */
  heal(): void {
    const { random } = this.options
    this.isFaulty = false
    const dead = random.chance(DEAD_SHARE) ? NAMES[random.integer(NAMES.length)] : undefined
    this.dead = dead
    for (const [name, one] of this.witnesses) {
      if (name === dead) this.stop(one)
      else if (one.process.alive()) one.process.resume()
      else this.start(name, one)
    }
  }

  /** Requests of an edge. */
  askOf(edge: SimProcess): AskWitness {
    const { random, schedule } = this.options
    return (url, body) =>
      edge.promise((resolve, reject) => {
        const one = this.witnesses.get(url.split('/')[0] ?? '')
        if (one === undefined) throw new Error(`no witness is at ${url}`)
        let isOver = false
        const after = (delayMs: number, label: string, settle: () => void): void => {
          edge.later(delayMs, label, () => {
            if (!isOver) settle()
            isOver = true
          })
        }
        after(TIMEOUT_MS, 'waits no longer for a witness', () => reject(new Error('no reply')))
        const copies = this.fails() ? 0 : this.fails() ? 2 : 1
        for (let copy = 0; copy < copies; copy += 1) {
          const arrivesMs = this.fails() ? random.between(LATE_MS.from, LATE_MS.to) : this.trip()
          schedule(arrivesMs, 'a head arrives at a witness', () => {
            if (!one.process.alive()) {
              this.options.kernel.count('ledger_log:witness_down')
              after(this.trip(), 'a witness refused a connection', () => reject(new Error('refused')))
              return
            }
            void this.judged(one, body, edge.id).then((reply) => {
              if (!this.fails()) after(this.trip(), 'a witness replied', () => resolve(reply))
            })
          })
        }
      })
  }

  private trip(): number {
    return this.options.random.between(TRIP_MS.from, TRIP_MS.to)
  }

  private fails(): boolean {
    return this.isFaulty && this.options.random.chance(this.faultShare)
  }

  /** Never settles if the witness stops. */
  private judged({ process, witness }: SimWitness, body: string, by: string): Promise<WitnessReply> {
    const { kernel, checker } = this.options
    return process.promise((resolve) => {
      process.deliver(() => {
        const request = parseWitnessRequest(body)
        if (request === undefined) throw new Error(`${by} sent a malformed request`)
        void witness.add(request).then((judged) => {
          kernel.count(`ledger_log:${judged.kind === 'conflict' ? 'conflict_of_size' : judged.kind}`)
          if (judged.kind === 'signed') checker().signed(request.checkpoint.text, `${process.id}, asked by ${by},`)
          resolve(replyOf(judged))
        })
      })
    })
  }

  private created(name: string): SimWitness {
    const { kernel, schedule } = this.options
    const one: SimWitness = {
      signer: simNoteSigner(name, 'witness'),
      file: new Map(),
      writing: undefined,
      process: kernel.process(name).beside(schedule),
      witness: { add: () => Promise.reject(new Error('not started')) },
    }
    this.run(one)
    return one
  }

  private start(name: string, one: SimWitness): void {
    const { kernel, schedule } = this.options
    if (one.file.size > 0) kernel.count('ledger_log:witness_restarted')
    one.process = kernel.process(name).beside(schedule)
    this.run(one)
  }

  private run(one: SimWitness): void {
    const { process } = one
    const options: WitnessOptions = {
      signer: one.signer,
      logs: [this.log.key],
      nowMs: process.wallMs,
      store: {
        head: async (origin) => one.file.get(origin),
        save: (head) => {
          one.writing = head
          return process.promise((resolve) => {
            process.later(this.options.random.between(SAVE_MS.from, SAVE_MS.to), 'stored a head', () => {
              one.file.set(head.origin, head)
              one.writing = undefined
              resolve(undefined)
            })
          })
        },
      },
    }
    const witness = new Witness(options)
    this.options.breaks.witness?.(witness)
    one.witness = witness
  }

  /** Its file may have been replaced before its process ended. */
  private stop(one: SimWitness): void {
    const { writing } = one
    one.process.exit()
    one.writing = undefined
    if (writing !== undefined && this.options.random.chance(0.5)) one.file.set(writing.origin, writing)
  }

  private blowLater(): void {
    const { random, schedule } = this.options
    schedule(random.between(BLOW_EVERY_MS.from, BLOW_EVERY_MS.to), 'a blow to witnesses', () => {
      if (!this.isFaulty) return
      this.blowLater()
      const count = random.pick([1, 1, 1, 2, 3])
      for (const [name, one] of [...this.witnesses].slice(0, count)) this.blow(name, one)
    })
  }

  private blow(name: string, one: SimWitness): void {
    const { random, schedule } = this.options
    const durationMs = random.between(DOWN_MS.from, DOWN_MS.to)
    if (!one.process.alive()) return
    if (random.chance(0.4)) return one.process.pause(durationMs)
    this.stop(one)
    schedule(durationMs, `${name} is started again`, () => {
      if (!one.process.alive() && name !== this.dead) this.start(name, one)
    })
  }

  /** Signs a head of another history with the ledger's key, which the witness must refuse. */
  private attackLater(): void {
    const { random, schedule } = this.options
    schedule(random.between(ATTACK_EVERY_MS.from, ATTACK_EVERY_MS.to), 'an attacker asks a witness', () => {
      if (!this.isFaulty) return
      this.attackLater()
      const one = this.witnesses.get(NAMES[random.integer(NAMES.length)] ?? '')
      const known = one?.file.get(ORIGIN)
      // A witness signs the first head of a log that it sees, whichever it is.
      if (one === undefined || known === undefined || known.size === 0 || !one.process.alive()) return
      const bytes = (): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(random.hex(32), 'hex'))
      const checkpoint = signedHead(this.log, { size: known.size + random.integer(4), root: bytes() })
      const proof = Array.from({ length: random.integer(3) }, bytes)
      void this.judged(one, witnessRequestText({ oldSize: known.size, proof, checkpoint }), 'an attacker')
    })
  }
}

function simNoteSigner(name: string, kind: NoteKeyKind): NoteSigner {
  const publicKey = simNoteSignature(new Uint8Array(), name).slice(0, 32)
  const id = Buffer.from(publicKey.slice(0, 4)).toString('hex')
  const key: NoteKey = { name, id, kind, publicKey }
  return { key, sign: (text) => simNoteSignature(publicKey, text) }
}
