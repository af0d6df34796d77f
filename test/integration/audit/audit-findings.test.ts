/**
 * The assertions of provenance and compliance state the checks of an audit and their time. For a large ledger they use
 * the passes of the auditor, and are false without a pass within a day (D12).
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Balance } from '../../../actors/account/state.ts'
import { CONTROLS } from '../../../runtime/audit/finding.ts'
import { parseQuantity } from '../../../actors/money.ts'
import { type AuditFindingsOptions, createAuditFindings } from '../../../infra/audit/audit-findings.ts'
import { beginPass, newProgress } from '../../../infra/audit/progress.ts'
import { AuditUnavailable } from '../../../infra/audit/audit-reads.ts'
import { runSpotPass, type SpotPass } from '../../../infra/audit/spot-pass.ts'
import { AssertionUnavailable } from '../../../runtime/ports/assertion-source.ts'
import {
  type AuditedLedger,
  createAuditedLedger,
  everythingOnce,
  Parties,
  type Told,
} from '../../support/audited-ledger.ts'
import { NEVER_MS, startAuditor, untilPasses, untilSeen } from '../../support/auditing.ts'
import { createLedgerDatabase, vaultOf } from '../../support/postgres/ledger-database.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'
import { changeBase } from '../../support/postgres/tampering-with-keys.ts'

const ONE = parseQuantity('1')

const ALL = [{ name: 'ledger-integrity-1', controls: CONTROLS }]
const DAY_MS = 24 * 3_600_000

let ledger: AuditedLedger
let parties: Parties
let told: Told
const closes: (() => Promise<void>)[] = []

beforeAll(async () => {
  ledger = await createAuditedLedger()
  parties = new Parties(ledger)
  told = await everythingOnce(parties, 'one')
})
afterAll(() => ledger?.close())
afterEach(async () => {
  for (const close of closes.splice(0)) await close()
  await ledger.sql`TRUNCATE audit_progress, audit_findings`
})

const spotPass: SpotPass = async (request) => runSpotPass(request, await vaultOf(request.url))

function findings(options: Partial<AuditFindingsOptions> = {}) {
  const { url, ledgerId } = ledger
  const made = createAuditFindings({ url, ledgerId, clock: Date, frameworks: ALL, spotPass, ...options })
  closes.push(made.close)
  return made
}

/** Changes the balance of Bob in the base unit, as an attacker with the keys could. */
function changeBob(change: (balance: Balance) => Partial<Balance>): Promise<void> {
  return changeBase('bob-one', change)(ledger)
}

/** Findings with a limit that makes every ledger a large one. */
function large(options: Partial<AuditFindingsOptions> = {}) {
  const refused = () => Promise.reject(new Error('a large ledger has no spot passes'))
  return findings({ largeFrom: 1, spotPass: refused, ...options })
}

test('a request for a small ledger runs a pass, and the reply has the time of this pass', async () => {
  const askedAtMs = Date.now()
  const { compliance, provenance } = findings()
  const complied = await compliance()
  expect(complied).toEqual({
    compliant: true,
    frameworks: ['ledger-integrity-1'],
    controls: CONTROLS.map((name) => ({ name, passed: true, checked: expect.any(Number), failed: 0 })),
    asOfMs: expect.any(Number),
    lastFullPassAtMs: expect.any(Number),
  })
  expect(Math.min(...complied.controls.map(({ checked }) => checked))).toBeGreaterThan(0)
  expect(complied.asOfMs).toBeGreaterThanOrEqual(askedAtMs)
  expect(complied.lastFullPassAtMs).toBeGreaterThanOrEqual(complied.asOfMs)
  expect(await provenance()).toMatchObject({ assetsVerified: 3, provenanceValid: true })
})

test('an empty ledger is valid and compliant', async () => {
  const empty = await createLedgerDatabase()
  const { compliance, provenance } = findings({ url: empty.url })
  expect(await provenance()).toMatchObject({ assetsVerified: 0, provenanceValid: true })
  const complied = await compliance()
  expect(complied.compliant).toBe(true)
  expect(complied.controls.map(({ checked }) => checked)).toEqual(CONTROLS.map(() => 0))
  await empty.drop()
})

test('the next reply reports damage, and the reply after its repair does not', async () => {
  const { compliance, provenance } = findings()
  await ledger.sql`UPDATE actors SET owner = 'mallory' WHERE actor_id = ${told.kept}`
  await changeBob(({ balance }) => ({ balance: balance + ONE }))
  expect(await provenance()).toMatchObject({ assetsVerified: 3, provenanceValid: false })
  const complied = await compliance()
  expect(complied.compliant).toBe(false)
  expect(complied.controls.filter(({ passed }) => !passed).map(({ name, failed }) => [name, failed])).toEqual([
    ['value_is_conserved', 1],
    ['no_negative_balance', 1],
  ])
  await ledger.sql`UPDATE actors SET owner = ${ledger.vault.accountRef('alice-one')} WHERE actor_id = ${told.kept}`
  await changeBob(({ balance }) => ({ balance: balance - ONE }))
  expect(await provenance()).toMatchObject({ provenanceValid: true })
  expect(await compliance()).toMatchObject({ compliant: true })
})

test('frameworks check only the controls that they name, each once', async () => {
  const frameworks = [
    { name: 'books', controls: ['supply_reconciles', 'value_is_conserved'] as const },
    { name: 'receipts', controls: ['receipts_verify', 'value_is_conserved'] as const },
  ]
  await changeBob(({ reserved }) => ({ reserved: reserved + ONE }))
  const complied = await findings({ frameworks }).compliance()
  await changeBob(({ reserved }) => ({ reserved: reserved - ONE }))
  expect(complied).toMatchObject({ compliant: true, frameworks: ['books', 'receipts'] })
  expect(complied.controls.map(({ name }) => name)).toEqual([
    'value_is_conserved',
    'receipts_verify',
    'supply_reconciles',
  ])
})

test('requests during a pass share the next pass', async () => {
  let begun = 0
  const ends: (() => void)[] = []
  const { provenance } = findings({
    spotPass: async (request) => {
      begun += 1
      await new Promise<void>((resolve) => void ends.push(resolve))
      return spotPass(request)
    },
  })
  const first = provenance()
  await until(() => ends.length === 1)
  const others = [provenance(), provenance()]
  expect(begun).toBe(1)
  ends[0]?.()
  await first
  await until(() => ends.length === 2)
  ends[1]?.()
  const [one, other] = await Promise.all(others)
  expect(begun).toBe(2)
  expect(one).toEqual(other)
})

test('a request whose pass fails is refused, and the next request succeeds', async () => {
  let fails = true
  const { compliance } = findings({
    spotPass: (request) => (fails ? Promise.reject(new AuditUnavailable('not now')) : spotPass(request)),
  })
  await expect(compliance()).rejects.toThrow(AssertionUnavailable)
  fails = false
  expect(await compliance()).toMatchObject({ compliant: true })
})

test('a large ledger is neither valid nor compliant before the first complete pass of the auditor', async () => {
  const { compliance, provenance } = large()
  const nothing = { asOfMs: expect.any(Number), lastFullPassAtMs: null }
  expect(await provenance()).toEqual({ assetsVerified: 0, provenanceValid: false, ...nothing })
  expect(await compliance()).toMatchObject({ compliant: false, ...nothing })
  const underWay = beginPass(newProgress('1', Date.now()), Date.now())
  await ledger.sql`INSERT INTO audit_progress (document, updated_at) VALUES (${JSON.stringify(underWay)}, now())`
  expect(await provenance()).toMatchObject({ provenanceValid: false, ...nothing })
  expect((await compliance()).controls.map(({ passed }) => passed)).toEqual(CONTROLS.map(() => false))
})

test('the reply for a large ledger covers the last complete pass and all later rows', async () => {
  const audit = startAuditor(ledger, { settings: { betweenPassesMs: NEVER_MS } })
  await until(() => audit.count('audit_pass_complete') === 1)
  const { compliance, provenance } = large()
  const before = await provenance()
  expect(before).toMatchObject({ assetsVerified: 3, provenanceValid: true })
  const complied = await compliance()
  expect(complied).toMatchObject({ compliant: true, lastFullPassAtMs: before.lastFullPassAtMs })
  await parties.mint(told.alice, told.classId, 'since')
  await parties.submit(told.alice, { type: 'credit', amount: '1' })
  await parties.atRest()
  await untilSeen(ledger)
  const since = await provenance()
  expect(since).toMatchObject({ assetsVerified: 4, provenanceValid: true, lastFullPassAtMs: before.lastFullPassAtMs })
  expect(since.asOfMs).toBeGreaterThan(before.asOfMs)
  const checked = async (): Promise<number> => (await compliance()).controls[0]?.checked ?? 0
  expect(await checked()).toBeGreaterThan(complied.controls[0]?.checked ?? 0)
  await audit.auditor.stop()
  // Without an auditor the reply keeps its time.
  const askedAtMs = Date.now()
  expect((await provenance()).asOfMs).toBeLessThan(askedAtMs)
})

test('a large ledger is not compliant from the pass that finds damage until the pass that does not', async () => {
  const audit = startAuditor(ledger)
  await untilPasses(audit, 1)
  const { compliance, provenance } = large()
  expect(await compliance()).toMatchObject({ compliant: true })
  await ledger.sql`UPDATE actors SET owner = 'mallory' WHERE actor_id = ${told.kept}`
  await changeBob(({ reserved }) => ({ reserved: reserved + ONE }))
  await untilPasses(audit, 1)
  expect(await provenance()).toMatchObject({ provenanceValid: false })
  const complied = await compliance()
  expect(complied.compliant).toBe(false)
  expect(complied.controls.filter(({ passed }) => !passed)).toEqual([
    { name: 'no_negative_balance', passed: false, checked: expect.any(Number), failed: 1 },
  ])
  await ledger.sql`UPDATE actors SET owner = ${ledger.vault.accountRef('alice-one')} WHERE actor_id = ${told.kept}`
  await changeBob(({ reserved }) => ({ reserved: reserved - ONE }))
  await untilPasses(audit, 2)
  await audit.auditor.stop()
  expect(await provenance()).toMatchObject({ provenanceValid: true })
  expect(await compliance()).toMatchObject({ compliant: true })
})

test('a large ledger without a complete pass for a day is neither valid nor compliant', async () => {
  const audit = startAuditor(ledger)
  await untilPasses(audit, 1)
  await audit.auditor.stop()
  let nowMs = Date.now()
  const { compliance, provenance } = large({ clock: { now: () => nowMs } })
  const lastMs = (await provenance()).lastFullPassAtMs ?? 0
  nowMs = lastMs + DAY_MS
  expect(await provenance()).toMatchObject({ provenanceValid: true })
  expect(await compliance()).toMatchObject({ compliant: true })
  nowMs += 1
  expect(await provenance()).toMatchObject({ provenanceValid: false, lastFullPassAtMs: lastMs })
  expect(await compliance()).toMatchObject({ compliant: false, lastFullPassAtMs: lastMs })
})
