/** A ledger, and copies of it to be damaged: what an audit then says is wrong. */
import { type Subject, SUBJECTS } from '../../actors/audit/finding.ts'
import { runSpotPass, type SpotResult } from '../../infra/audit/spot-pass.ts'
import { type AuditedLedger, createAuditedLedger, everythingOnce, Parties, type Told } from './audited-ledger.ts'
import { copyOf, type DatabaseCopy } from './database-copy.ts'

export interface Tampered {
  readonly told: Told
  readonly onCopy: <T>(work: (copy: DatabaseCopy) => Promise<T>) => Promise<T>
  /** Both kinds of pass together. */
  readonly audit: (url: string) => Promise<SpotResult>
  readonly close: () => Promise<void>
}

export type Tamper = (copy: DatabaseCopy) => Promise<unknown>
/** What is damaged, everything that is then said to be wrong, and how it is damaged. */
export type Case = readonly [what: string, found: readonly Subject[], tamper: Tamper]

export async function createTampered(): Promise<Tampered> {
  const ledger: AuditedLedger = await createAuditedLedger()
  const told = await everythingOnce(new Parties(ledger), 'one')
  // A copy is made of what nobody is connected to.
  await ledger.leave()
  const { ledgerId } = ledger
  return {
    told,
    onCopy: async (work) => {
      const copy = await copyOf(ledger.url)
      try {
        return await work(copy)
      } finally {
        await copy.drop()
      }
    },
    audit: async (url) => {
      const compliance = await runSpotPass({ url, ledgerId, kind: 'compliance' })
      const provenance = await runSpotPass({ url, ledgerId, kind: 'provenance' })
      const sum = (of: 'checked' | 'failed') =>
        Object.fromEntries(SUBJECTS.map((name) => [name, (compliance[of][name] ?? 0) + (provenance[of][name] ?? 0)]))
      return { ...compliance, checked: sum('checked'), failed: sum('failed') }
    },
    close: ledger.close,
  }
}

export function failedOf({ failed }: SpotResult): readonly Subject[] {
  return SUBJECTS.filter((subject) => (failed[subject] ?? 0) > 0)
}

/** What is said to be wrong with a copy that was damaged so. */
export function foundBy({ onCopy, audit }: Tampered, tamper: Tamper): Promise<readonly Subject[]> {
  return onCopy(async (copy) => {
    await tamper(copy)
    return failedOf(await audit(copy.url))
  })
}

export function run(statement: string): Tamper {
  return async ({ sql }) => {
    const changed = await sql.unsafe(statement)
    // A statement that changes nothing would show nothing.
    if (changed.count === 0) throw new Error(`nothing was changed by ${statement}`)
  }
}

export function runAll(...statements: readonly string[]): Tamper {
  return async (copy) => {
    for (const statement of statements) await run(statement)(copy)
  }
}

/** The hash of `payload` after `previous_hash`, by the chain's rule, in SQL. */
export const HASH = "sha256(previous_hash || sha256(convert_to(payload, 'UTF8')))"
