/** Heads of the log that others have: a log that shows two histories is found by those who compare what they were shown. */
import { createHash } from 'node:crypto'
import { type LogHead, parseCheckpoint } from '../../../api/client/log/checkpoint.ts'
import { isSame } from '../../../api/client/log/merkle.ts'
import { noteText, parseNote, type SignedNote, verifySignatures } from '../../../api/client/log/signed-note.ts'
import type { TrustedHead, TrustPolicy } from '../../../api/client/log/trust-policy.ts'
import { CLOCK_TOLERANCE_MS } from '../witness-request.ts'
import { continues } from './continuation.ts'
import type { Finding } from './finding.ts'
import { type GetFromLog, LogUnreachable, type LogReader } from './log-reader.ts'

export interface OtherHead {
  /** Where it comes from, for people. */
  readonly name: string
  /** A signed note. */
  readonly note: string
}

interface Comparison {
  readonly reader: LogReader
  readonly policy: TrustPolicy
  readonly nowMs: () => number
}

/** The head of the log may be so much older than one that a witness has just signed. */
const GRACE_MS = 60_000
const MAX_NOTE_BYTES = 65_536
const [OK, NOT_FOUND] = [200, 404]

/** No finding: both are heads of one history. */
export async function judgeOtherHead(
  { name, note }: OtherHead,
  head: TrustedHead,
  { reader, policy, nowMs }: Comparison,
): Promise<readonly Finding[]> {
  const signed = await signedHead(note, head.origin, policy)
  if (signed === undefined) {
    return [{ kind: 'untrusted', detail: `${name}: this is no head that the log ${head.origin} signed` }]
  }
  const { other, parsed } = signed
  const facts = { other: noteText(parsed), size: head.size }
  if (other.size > head.size) {
    const atMs = await signedAtMs(parsed, policy)
    const ageMs = nowMs() - (atMs ?? 0)
    if (ageMs < GRACE_MS && ageMs >= -CLOCK_TOLERANCE_MS) return []
    const detail = `${name}: a head of ${other.size} entries is signed, and the log shows an old one of ${head.size} here`
    return [{ kind: 'went_back', detail, facts }]
  }
  if (await continues(other, head, reader)) return []
  const detail = `${name}: a head of ${other.size} entries is signed that is no part of the history of ${head.size} entries that the log shows here: the log has two histories`
  return [{ kind: 'forked', detail, facts }]
}

/** Two heads of one size with different roots prove two histories, whichever of them the log shows here. */
export async function judgeAmongEachOther(
  others: readonly OtherHead[],
  origin: string,
  policy: TrustPolicy,
): Promise<readonly Finding[]> {
  const bySize = new Map<number, { readonly name: string; readonly note: string; readonly root: LogHead['root'] }>()
  const findings = new Map<number, Finding>()
  for (const { name, note } of others) {
    const signed = await signedHead(note, origin, policy)
    if (signed === undefined) continue
    const { size, root } = signed.other
    const first = bySize.get(size)
    if (first === undefined) bySize.set(size, { name, note, root })
    else if (!isSame(first.root, root)) {
      const detail = `${first.name} and ${name}: the log ${origin} signed two heads of ${size} entries: it has two histories`
      findings.set(size, { kind: 'forked', detail, facts: { size, heads: [first.note, note] } })
    }
  }
  return [...findings.values()]
}

/** The head in a note that the log signed. */
async function signedHead(
  note: string,
  origin: string,
  { logs }: TrustPolicy,
): Promise<{ readonly other: LogHead; readonly parsed: SignedNote } | undefined> {
  const parsed = parseNote(note)
  const other = parsed && parseCheckpoint(parsed.text)
  if (parsed === undefined || other?.origin !== origin) return undefined
  const keys = logs.map(({ key }) => key).filter(({ name }) => name === origin)
  return ((await verifySignatures(parsed, keys)) ?? []).length > 0 ? { other, parsed } : undefined
}

/** The last time at which a witness signed it; undefined if none did. */
export async function signedAtMs(note: SignedNote, { witnesses }: TrustPolicy): Promise<number | undefined> {
  const verified = await verifySignatures(
    note,
    [...witnesses.values()].map(({ key }) => key),
  )
  const times = (verified ?? []).flatMap(({ atMs }) => (atMs === undefined ? [] : [atMs]))
  return times.length === 0 ? undefined : Math.max(...times)
}

/** The last head that a witness signed (C2SP tlog-witness); undefined if it has signed none. Throws LogUnreachable. */
export async function headOfWitness(get: GetFromLog, origin: string): Promise<string | undefined> {
  const path = `${createHash('sha256').update(origin).digest('hex')}/checkpoint`
  const { status, body } = await get(path, MAX_NOTE_BYTES)
  if (status === NOT_FOUND) return undefined
  if (status !== OK) throw new LogUnreachable(`the witness shows no head (status ${status})`)
  return body.toString('utf8')
}
