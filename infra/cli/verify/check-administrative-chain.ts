/**
 * Verdicts on saved pages of the administrative chain.
 *   V1. The entries of a page have consecutive sequences. Each has its own hash, and its sequence and ledger in its payload.
 *   V2. The signed head of a page is its last entry. An empty list with a head lacks its entries.
 *   V3. The pages form one chain from entry 0 on, which has as many entries as the signed heads count.
 *   V4. The number of entries never falls.
 */
import { chainHash, GENESIS, showHash } from '../../../actors/audit-chain.ts'
import { canonicalJson } from '../../../actors/canonical-json.ts'
import { parseTimestamp } from '../../../actors/timestamp.ts'
import { signatureProblem } from '../../../api/client/verify/service-signature.ts'
import { jsonObjectOf } from '../common/given-file.ts'
import { type AdministrativePage, isSignedOrFilled } from './export-file.ts'
import { problemOf } from './findings.ts'
import type { ReceiptKeys } from './jwks.ts'
import type { VerdictLine } from './verdicts.ts'

type Entry = AdministrativePage['entries'][number]
type Head = NonNullable<AdministrativePage['head']>

/** Clocks of edges differ by twice MAX_CLOCK_SKEW_MS (edge-clock.ts), and an edge reads before it signs. */
const SIGNED_WITHIN_MS = 10_000

const NOT_LINKED = 'its previous_hash is not the audit_hash of the entry before'

/** One line for the chain of each ledger: its first problem, or how far it is signed. */
export async function checkAdministrativeChains(
  pages: readonly AdministrativePage[],
  keys: ReceiptKeys,
): Promise<readonly VerdictLine[]> {
  const ofLedgers = new Map<string, AdministrativePage[]>()
  for (const page of pages.filter(isSignedOrFilled)) {
    ofLedgers.set(page.ledger_id, [...(ofLedgers.get(page.ledger_id) ?? []), page])
  }
  const lines: VerdictLine[] = []
  for (const ofLedger of ofLedgers.values()) lines.push(await checkChain(ofLedger, keys))
  return lines
}

async function checkChain(pages: readonly AdministrativePage[], keys: ReceiptKeys): Promise<VerdictLine> {
  for (const page of pages) {
    const problem = problemOfEntries(page) ?? (await problemOfHead(page, keys))
    if (problem !== undefined) return problem
  }
  const heads = pages.flatMap(({ head }) => head ?? []).toSorted((left, right) => timeOf(left) - timeOf(right))
  const entries = pages.flatMap((page) => page.entries).toSorted((left, right) => left.sequence - right.sequence)
  const problem = problemOfTotals(heads) ?? problemOfLinks(entries) ?? problemOfOtherHead(entries, heads)
  if (problem !== undefined) return problem
  const last = entries.at(-1)
  const [count, tip] = [(last?.sequence ?? -1) + 1, last?.audit_hash]
  const total = heads.reduce((most, head) => Math.max(most, head.total_count), 0)
  if (count < total) return incomplete(`the files have ${count} of ${total} administrative entries: give all pages`)
  const ledgerId = pages[0]?.ledger_id ?? ''
  const signed = heads.findLast((head) => head.audit_hash === tip)
  const [keyId, at] = [String(signed?.['key_id']), String(signed?.at)]
  return {
    verdict: 'ok',
    detail: `administrative chain of ledger ${ledgerId}: ${count} entries up to ${tip}, signed by key ${keyId} at ${at}`,
    facts: { ledger_id: ledgerId, entries: count, tip, key_id: keyId, at },
  }
}

/** V4. `heads`: in the order of their times. */
function problemOfTotals(heads: readonly Head[]): VerdictLine | undefined {
  let [earlier, most]: [number, Head | undefined] = [0, undefined]
  for (const head of heads) {
    for (; earlier < heads.length; earlier += 1) {
      const before = heads[earlier]
      if (before === undefined || timeOf(head) - timeOf(before) <= SIGNED_WITHIN_MS) break
      if (before.total_count > (most?.total_count ?? 0)) most = before
    }
    if (most !== undefined && head.total_count < most.total_count) {
      const was = `it had ${most.total_count} entries at ${most.at}`
      return tampered(`the administrative chain went back: ${was}, and ${head.total_count} at ${head.at}`)
    }
  }
  return undefined
}

/** V2, of heads whose entry is in another page. */
function problemOfOtherHead(entries: readonly Entry[], heads: readonly Head[]): VerdictLine | undefined {
  const hashes = new Map(entries.map(({ sequence, audit_hash: hash }) => [sequence, hash]))
  const other = heads.find((head) => (hashes.get(head.sequence) ?? head.audit_hash) !== head.audit_hash)
  return other && tampered(`head of ${nameOf(other.sequence)}: its audit_hash is not that of the entry`)
}

/** V3. `entries`: in the order of sequences. Pages may have the same entries. */
function problemOfLinks(entries: readonly Entry[]): VerdictLine | undefined {
  let before: Entry | undefined
  for (const entry of entries) {
    const next = before === undefined ? 0 : before.sequence + 1
    if (entry.sequence > next) return incomplete(`${nameOf(next)} is missing: give all pages`)
    if (entry.sequence === next && entry.previous_hash !== (before?.audit_hash ?? showHash(GENESIS))) {
      return tampered(`${nameOf(next)}: ${NOT_LINKED}`)
    }
    if (entry.sequence < next && entry.audit_hash !== before?.audit_hash) {
      return tampered(`${nameOf(entry.sequence)}: two pages have different entries of this sequence`)
    }
    before = entry
  }
  return undefined
}

/** V1. */
function problemOfEntries({ ledger_id: ledgerId, entries, head }: AdministrativePage): VerdictLine | undefined {
  const first = entries[0]?.sequence ?? 0
  for (const [index, entry] of entries.entries()) {
    const problem = problemOfEntry(entry, ledgerId)
    if (problem !== undefined) return tampered(`${nameOf(entry.sequence)}: ${problem}`)
    // Without a head it may be a page of the acts on one account.
    if (head !== undefined && entry.sequence !== first + index) {
      return tampered(`${nameOf(entry.sequence)}: it is where its page should have entry ${first + index}`)
    }
  }
  return undefined
}

function problemOfEntry({ sequence, ...entry }: Entry, ledgerId: string): string | undefined {
  if (entry.payload === null) return 'its payload is null: its stored text was changed, or cannot be read'
  const hash = showHash(chainHash(entry.previous_hash.replace('sha256:', ''), entry.payload))
  if (hash !== entry.audit_hash) return 'its audit_hash is not the hash of its previous_hash and payload'
  const fields = jsonObjectOf(entry.payload)
  if (fields === undefined || canonicalJson(fields) !== entry.payload) {
    return 'its payload is not the canonical form of a JSON object'
  }
  const expected = { type: 'administrative', ledger_id: ledgerId, sequence }
  const other = Object.entries(expected).find(([name, value]) => fields[name] !== value)
  return other && `its payload has another ${other[0]}`
}

/** V2. */
async function problemOfHead(
  { ledger_id: ledgerId, entries, head }: AdministrativePage,
  keys: ReceiptKeys,
): Promise<VerdictLine | undefined> {
  const last = entries.at(-1)
  const name = `head of ${nameOf(last?.sequence ?? head?.sequence ?? 0)}`
  if (head === undefined)
    return incomplete(`${name}: the page is not signed, as those of account_id: give pages of all acts`)
  const { signature, ...signed } = head
  const expected = {
    type: 'administrative_chain',
    ledger_id: ledgerId,
    ...(last && { sequence: last.sequence, audit_hash: last.audit_hash }),
  }
  const other = Object.entries(expected).find(([member, value]) => signed[member] !== value)
  if (other !== undefined) return tampered(`${name}: its ${other[0]} is not that of the page's last entry`)
  if (head.total_count <= head.sequence) return tampered(`${name}: its total_count is too small for its sequence`)
  const claim = { signed, signature, purpose: 'assertion', timeMember: 'at' } as const
  return problemOf(name, signed, keys, async () => {
    return (await signatureProblem(claim, keys.document)) ?? { ok: true, proved: [] }
  })
}

function timeOf({ at }: Head): number {
  return parseTimestamp(at) ?? Number.NaN
}

function nameOf(sequence: number): string {
  return `administrative entry ${sequence}`
}

function tampered(detail: string): VerdictLine {
  return { verdict: 'TAMPERED', detail }
}

function incomplete(detail: string): VerdictLine {
  return { verdict: 'INCOMPLETE', detail }
}
