/** A ledger, and copies of it to be damaged: what an audit then says is wrong. */
import postgres from 'postgres'
import { type Finding, type Subject, SUBJECTS } from '../../../runtime/audit/finding.ts'
import { createAuditReads } from '../../../infra/audit/audit-reads.ts'
import { type PassPlace, startOf, stepPass, WHOLE_PASS } from '../../../infra/audit/pass.ts'
import { loadReceiptCheck } from '../../../infra/audit/receipt-check.ts'
import { runSpotPass, type SpotResult } from '../../../infra/audit/spot-pass.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import { type AuditedLedger, createAuditedLedger, everythingOnce, Parties, type Told } from '../audited-ledger.ts'
import { copyDatabase, vaultOf } from './ledger-database.ts'

export interface DatabaseCopy {
  readonly url: string
  readonly sql: postgres.Sql
}

export interface Tampered {
  readonly told: Told
  readonly ledgerId: string
  /** The keyed hash of an account in rows and in findings. */
  readonly refOf: (accountId: string) => string
  readonly onCopy: <T>(work: (copy: DatabaseCopy) => Promise<T>) => Promise<T>
  /** Both kinds of pass together. */
  readonly audit: (url: string) => Promise<SpotResult>
  readonly close: () => Promise<void>
}

export type Tamper = (copy: DatabaseCopy) => Promise<unknown>
/** The damage in words, all expected findings, and the function that does the damage. */
export type Case = readonly [what: string, found: readonly Subject[], tamper: Tamper]

/** `more`: what happens after everything has happened once. */
export async function createTampered(
  more: (ledger: AuditedLedger, parties: Parties, told: Told) => Promise<void> = () => Promise.resolve(),
): Promise<Tampered> {
  const ledger: AuditedLedger = await createAuditedLedger()
  const parties = new Parties(ledger)
  const told = await everythingOnce(parties, 'one')
  await more(ledger, parties, told)
  // PostgreSQL copies only a database without connections.
  await ledger.leave()
  const { ledgerId, vault } = ledger
  return {
    told,
    ledgerId,
    refOf: vault.accountRef,
    onCopy: (work) => onCopyOf(ledger.url, work),
    audit: async (url) => {
      const keys = await vaultOf(url)
      const compliance = await runSpotPass({ url, ledgerId, kind: 'compliance' }, keys)
      const provenance = await runSpotPass({ url, ledgerId, kind: 'provenance' }, keys)
      const sum = (of: 'checked' | 'failed') =>
        Object.fromEntries(SUBJECTS.map((name) => [name, (compliance[of][name] ?? 0) + (provenance[of][name] ?? 0)]))
      return { ...compliance, checked: sum('checked'), failed: sum('failed') }
    },
    close: ledger.close,
  }
}

async function onCopyOf<T>(url: string, work: (copy: DatabaseCopy) => Promise<T>): Promise<T> {
  const copy = await copyDatabase(url)
  const sql = postgres(copy.url, { max: 2, onnotice: () => undefined })
  try {
    return await work({ url: copy.url, sql })
  } finally {
    await sql.end()
    await copy.drop()
  }
}

export function failedOf({ failed }: SpotResult): readonly Subject[] {
  return SUBJECTS.filter((subject) => (failed[subject] ?? 0) > 0)
}

/** The findings of an audit of a damaged copy. */
export function foundBy({ onCopy, audit }: Tampered, tamper: Tamper): Promise<readonly Subject[]> {
  return onCopy(async (copy) => {
    await tamper(copy)
    return failedOf(await audit(copy.url))
  })
}

export interface WalkedLedger {
  readonly findings: readonly Finding[]
  /** Where each step began, as it is written down. */
  readonly places: readonly string[]
}

/** A whole pass, with the places of its findings. Each step goes on from nothing but what was written of the one before. */
export async function walkLedger(url: string, ledgerId: string, vault: RowVault): Promise<WalkedLedger> {
  const reads = createAuditReads(url, 'audit test', vault)
  const receiptProblem = await loadReceiptCheck(reads.query, ledgerId)
  const findings: Finding[] = []
  const places: string[] = []
  let written: string | null = JSON.stringify(startOf(WHOLE_PASS))
  while (written !== null) {
    places.push(written)
    const place = JSON.parse(written) as PassPlace
    const { next, seen } = await stepPass(WHOLE_PASS, { ...reads, receiptProblem, countBelow: null }, place)
    findings.push(...seen.findings)
    written = next === null ? null : JSON.stringify(next)
  }
  await reads.close()
  return { findings, places }
}

/** An attacker without keys, with full access to the database. */
export function run(statement: string): Tamper {
  return async ({ sql }) => {
    const changed = await sql.unsafe(statement)
    // A statement that changes nothing would show nothing.
    if (changed.count === 0) throw new Error(`nothing was changed by ${statement}`)
  }
}

export function runAll(...statements: readonly string[]): Tamper {
  return all(...statements.map(run))
}

/** One after the other. */
export function all(...tampers: readonly Tamper[]): Tamper {
  return async (copy) => {
    for (const tamper of tampers) await tamper(copy)
  }
}
