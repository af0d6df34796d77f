/**
 * Checks the witnessed log and its heads.
 *   L1. All heads that the ledger or a witness signed are those of one growing list of entries, and are signed after the
 *       commit of their last entry.
 *   L2. Each committed chain entry is in the log once, and nothing else. Once faults stop, all are in a published head within
 *       `PUBLISHED_WITHIN_MS`.
 *   L3. A published head has valid signatures of the log and of a quorum of witnesses. Its size never goes down.
 */
import { hash } from 'node:crypto'
import type { PublishedLogHead } from '../../../runtime/ports/log-store.ts'
import { simNoteSignature } from '../kernel/sim-crypto.ts'
import type { SimDatabase } from '../store/database.ts'
import { LogTree } from './log-tree.ts'
import type { Demand } from './messages.ts'

/** Virtual time: a lease that ends, a request to a witness that gets no reply, and a pause before the next attempt. */
export const PUBLISHED_WITHIN_MS = 15_000

export interface LogKeys {
  readonly origin: string
  readonly log: Uint8Array
  /** By the names in their signatures. */
  readonly witnesses: ReadonlyMap<string, Uint8Array>
  readonly quorum: number
}

interface Head {
  readonly size: number
  /** In base64. */
  readonly root: string
}

const TIME_BYTES = 8
const KEY_ID_BYTES = 4

export class LogChecker {
  private readonly demand: Demand
  private readonly database: SimDatabase
  private readonly keys: LogKeys
  private readonly tree = new LogTree()
  private publishedSize = 0

  constructor(demand: Demand, database: SimDatabase, keys: LogKeys) {
    this.demand = demand
    this.database = database
    this.keys = keys
  }

  /** A batch took effect, with its first entry at this place. */
  appended(place: number, entries: readonly Uint8Array[], by: string): void {
    this.demand(place === this.tree.size, `L1: ${by} adds entries at ${place} to a log of ${this.tree.size}`)
    for (const entry of entries) this.tree.add(entry)
  }

  /** `by`: signed the head, or asked a witness that signed it. */
  signed(text: string, by: string): void {
    const [origin, size = '', root = ''] = text.split('\n')
    this.demand(origin === this.keys.origin, `L1: ${by} signed a head of ${origin}`)
    this.inHistory({ size: Number(size), root }, `${by} signed`)
  }

  published({ size, note }: PublishedLogHead, by: string): void {
    this.demand(size >= this.publishedSize, `L3: ${by} published ${size} entries after ${this.publishedSize}`)
    this.publishedSize = Math.max(size, this.publishedSize)
    const end = note.indexOf('\n\n')
    const text = note.slice(0, end + 1)
    const [, written, root = ''] = text.split('\n')
    this.demand(written === String(size), `L3: ${by} published a head of ${written} entries as one of ${size}`)
    this.inHistory({ size, root }, `${by} published`)
    const { byLog, witnesses } = this.signatures(text, note.slice(end + 2))
    this.demand(byLog, `L3: ${by} published ${size} entries without the signature of the log`)
    const isMet = witnesses.size >= this.keys.quorum
    this.demand(
      isMet,
      `L3: ${by} published ${size} entries with the signatures of ${[...witnesses].join(', ') || 'none'}`,
    )
  }

  atEnd(isPublished: boolean): void {
    const { rows, log } = this.database
    const committed = [...rows.entries].flatMap(([at, entries]) => {
      const accountId = at.slice(at.indexOf(' ') + 1)
      return entries.map(({ sequence, auditHash }) => entryOf(accountId, sequence, auditHash))
    })
    const found = new Set(log.entries.map((entry) => entry.toString('hex')))
    const missing = committed.filter((entry) => !found.has(entry)).length
    const { length } = log.entries
    this.demand(missing === 0, `L2: ${missing} of ${committed.length} committed entries are not in the log`)
    this.demand(found.size === length, `L2: ${length - found.size} entries are in the log twice`)
    this.demand(length === committed.length, `L2: the log has ${length} entries of ${committed.length} committed ones`)
    const late = `L2: ${PUBLISHED_WITHIN_MS} ms after all faults ended, ${log.published?.size ?? 0} of ${length} entries are published`
    this.demand(isPublished, late)
  }

  private inHistory({ size, root }: Head, what: string): void {
    const { tree } = this
    this.demand(size <= tree.size, `L1: ${what} a head of ${size} entries, and ${tree.size} are committed`)
    if (size <= tree.size) this.demand(tree.rootOf(size) === root, `L1: ${what} another history of ${size} entries`)
  }

  /** Those that verify. */
  private signatures(text: string, lines: string) {
    const witnesses = new Set<string>()
    let byLog = false
    for (const line of lines.split('\n').slice(0, -1)) {
      const [, name = '', encoded = ''] = line.split(' ')
      const bytes = Buffer.from(encoded, 'base64').subarray(KEY_ID_BYTES)
      const key = this.keys.witnesses.get(name)
      if (name === this.keys.origin) byLog ||= isBy(this.keys.log, bytes, text)
      else if (key !== undefined) {
        const seconds = bytes.readBigUInt64BE(0)
        const isValid = isBy(key, bytes.subarray(TIME_BYTES), `cosignature/v1\ntime ${seconds}\n${text}`)
        if (isValid) witnesses.add(name)
      }
    }
    return { byLog, witnesses }
  }
}

function isBy(publicKey: Uint8Array, signature: Buffer, text: string): boolean {
  return signature.equals(simNoteSignature(publicKey, text))
}

/** As the simulated log has it, in hexadecimal. */
function entryOf(accountId: string, sequence: number, auditHash: string): string {
  return hash('sha384', `${accountId} ${sequence} ${auditHash}`)
}
