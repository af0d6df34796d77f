/**
 * Goal: what is asserted of provenance and compliance is what was looked at, as of the time that is said; a large ledger's
 * answer rests on the auditor, and without a pass of the last day it is no (D12).
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

/** An attacker with the keys changes bob's balance in the base unit. */
function bobs(change: (balance: Balance) => Partial<Balance>): Promise<void> {
  return changeBase('bob-one', change)(ledger)
}

/** As a large ledger's. */
function large(options: Partial<AuditFindingsOptions> = {}) {
  const refused = () => Promise.reject(new Error('a large ledger is not walked at once'))
  return findings({ largeFrom: 1, spotPass: refused, ...options })
}

test('a small ledger is walked on request: the answer is of that moment', async () => {
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

test('a ledger that has nothing in it is sound', async () => {
  const empty = await createLedgerDatabase()
  const { compliance, provenance } = findings({ url: empty.url })
  expect(await provenance()).toMatchObject({ assetsVerified: 0, provenanceValid: true })
  const complied = await compliance()
  expect(complied.compliant).toBe(true)
  expect(complied.controls.map(({ checked }) => checked)).toEqual(CONTROLS.map(() => 0))
  await empty.drop()
})

test('what is wrong is in the next answer, and gone from the one after it is right again', async () => {
  const { compliance, provenance } = findings()
  await ledger.sql`UPDATE actors SET owner = 'mallory' WHERE actor_id = ${told.kept}`
  await bobs(({ balance }) => ({ balance: balance + ONE }))
  expect(await provenance()).toMatchObject({ assetsVerified: 3, provenanceValid: false })
  const complied = await compliance()
  expect(complied.compliant).toBe(false)
  expect(complied.controls.filter(({ passed }) => !passed).map(({ name, failed }) => [name, failed])).toEqual([
    ['value_is_conserved', 1],
    ['no_negative_balance', 1],
  ])
  await ledger.sql`UPDATE actors SET owner = ${ledger.vault.accountRef('alice-one')} WHERE actor_id = ${told.kept}`
  await bobs(({ balance }) => ({ balance: balance - ONE }))
  expect(await provenance()).toMatchObject({ provenanceValid: true })
  expect(await compliance()).toMatchObject({ compliant: true })
})

test('other frameworks are the controls that they name, each once, and no others', async () => {
  const frameworks = [
    { name: 'books', controls: ['supply_reconciles', 'value_is_conserved'] as const },
    { name: 'receipts', controls: ['receipts_verify', 'value_is_conserved'] as const },
  ]
  await bobs(({ reserved }) => ({ reserved: reserved + ONE }))
  const complied = await findings({ frameworks }).compliance()
  await bobs(({ reserved }) => ({ reserved: reserved - ONE }))
  expect(complied).toMatchObject({ compliant: true, frameworks: ['books', 'receipts'] })
  expect(complied.controls.map(({ name }) => name)).toEqual([
    'value_is_conserved',
    'receipts_verify',
    'supply_reconciles',
  ])
})

test('who asks while a pass is under way gets the next one, which all of them share', async () => {
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

test('a pass that cannot be made asserts nothing, and the one after it is made', async () => {
  let fails = true
  const { compliance } = findings({
    spotPass: (request) => (fails ? Promise.reject(new AuditUnavailable('not now')) : spotPass(request)),
  })
  await expect(compliance()).rejects.toThrow(AssertionUnavailable)
  fails = false
  expect(await compliance()).toMatchObject({ compliant: true })
})

test('of a large ledger nothing is asserted before the auditor has been through it', async () => {
  const { compliance, provenance } = large()
  const nothing = { asOfMs: expect.any(Number), lastFullPassAtMs: null }
  expect(await provenance()).toEqual({ assetsVerified: 0, provenanceValid: false, ...nothing })
  expect(await compliance()).toMatchObject({ compliant: false, ...nothing })
  const underWay = beginPass(newProgress('1', Date.now()), Date.now())
  await ledger.sql`INSERT INTO audit_progress (document, updated_at) VALUES (${JSON.stringify(underWay)}, now())`
  expect(await provenance()).toMatchObject({ provenanceValid: false, ...nothing })
  expect((await compliance()).controls.map(({ passed }) => passed)).toEqual(CONTROLS.map(() => false))
})

test('of a large ledger the answer is the last complete pass with all that was written since', async () => {
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
  // No audit runs any more: the answer and its time stay.
  const askedAtMs = Date.now()
  expect((await provenance()).asOfMs).toBeLessThan(askedAtMs)
})

test('of a large ledger what is wrong is asserted from the pass that finds it to the one that does not', async () => {
  const audit = startAuditor(ledger)
  await untilPasses(audit, 1)
  const { compliance, provenance } = large()
  expect(await compliance()).toMatchObject({ compliant: true })
  await ledger.sql`UPDATE actors SET owner = 'mallory' WHERE actor_id = ${told.kept}`
  await bobs(({ reserved }) => ({ reserved: reserved + ONE }))
  await untilPasses(audit, 1)
  expect(await provenance()).toMatchObject({ provenanceValid: false })
  const complied = await compliance()
  expect(complied.compliant).toBe(false)
  expect(complied.controls.filter(({ passed }) => !passed)).toEqual([
    { name: 'no_negative_balance', passed: false, checked: expect.any(Number), failed: 1 },
  ])
  await ledger.sql`UPDATE actors SET owner = ${ledger.vault.accountRef('alice-one')} WHERE actor_id = ${told.kept}`
  await bobs(({ reserved }) => ({ reserved: reserved - ONE }))
  await untilPasses(audit, 2)
  await audit.auditor.stop()
  expect(await provenance()).toMatchObject({ provenanceValid: true })
  expect(await compliance()).toMatchObject({ compliant: true })
})

test('a large ledger through which the auditor has not been for a day is neither valid nor compliant', async () => {
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
