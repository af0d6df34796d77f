/** If the auditor cannot read some rows or is interrupted, its findings about others stay. */
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { parseQuantity, type Quantity } from '../../../actors/money.ts'
import type { AuditorSettings } from '../../../infra/audit/auditor.ts'
import { AUDITOR_LOCK } from '../../../infra/audit/progress-store.ts'
import {
  type AuditedLedger,
  createAuditedLedger,
  everythingOnce,
  Parties,
  type Told,
} from '../../support/audited-ledger.ts'
import {
  type AuditorUnderTest,
  findingsOf,
  NEVER_MS,
  progressOf,
  startAuditor,
  untilSeen,
} from '../../support/auditing.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'
import { changeActors, changeBase } from '../../support/postgres/tampering-with-keys.ts'

const ONE = parseQuantity('1')

let ledger: AuditedLedger
let parties: Parties
let told: Told

beforeAll(async () => {
  ledger = await createAuditedLedger()
  parties = new Parties(ledger)
  told = await everythingOnce(parties, 'one')
})
afterAll(() => ledger?.close())

beforeEach(async () => {
  await ledger.sql`TRUNCATE audit_progress, audit_findings`
})

/** Makes statements with the column fail until the end of the test. */
async function without(table: string, column: string): Promise<void> {
  const renamed = async (from: string, to: string): Promise<void> => {
    await ledger.sql.unsafe(`ALTER TABLE ${table} RENAME COLUMN ${from} TO ${to}`)
  }
  await renamed(column, 'away')
  onTestFinished(() => renamed('away', column))
}

/** Starts an auditor that ends with the test. Returns a function that ends it earlier. */
function audited(settings: Partial<AuditorSettings>): () => Promise<void> {
  const { auditor } = startedAuditor(settings)
  return () => auditor.stop()
}

function startedAuditor(settings: Partial<AuditorSettings>): AuditorUnderTest {
  const started = startAuditor(ledger, { settings })
  onTestFinished(() => started.auditor.stop())
  return started
}

async function untilFound(place: string): Promise<void> {
  await until(async () => (await findingsOf(ledger)).some((found) => found.place === place))
}

test('the auditor checks the conservation of value although it cannot read the supply of tokens', async () => {
  const stop = audited({ betweenPassesMs: NEVER_MS, betweenMomentsMs: NEVER_MS })
  await until(async () => ((await progressOf(ledger))?.tail.momentAtMs ?? null) !== null)
  await parties.submit(told.alice, { type: 'burn', amount: '1', token_id: 'GOLD-one' })
  await parties.atRest()
  await untilSeen(ledger)
  await stop()
  const raised = (by: Quantity) => changeBase('alice-one', ({ balance }) => ({ balance: balance + by }))(ledger)
  await raised(ONE)
  onTestFinished(() => raised(-ONE))
  await without('transactions', 'amount_bucket')
  audited({ betweenPassesMs: NEVER_MS })
  await untilFound('asset BASE')
  expect((await progressOf(ledger))?.tail).toMatchObject({ tokens: ['gold-one'] })
})

test('the auditor records the findings of a turn whose last page fails', async () => {
  const named = (owner: string) =>
    changeActors('instance', (nft) => (nft.id === told.kept ? { ...nft, owner } : undefined))(ledger)
  await named('nobody')
  onTestFinished(() => named(told.alice.accountId))
  await without('balances', 'document')
  audited({ workMs: NEVER_MS })
  await untilFound(`NFT ${told.kept}`)
  expect((await progressOf(ledger))?.last).toBeNull()
})

test('the auditor measures its last findings while it is interrupted, and none while another auditor works', async () => {
  const named = (owner: string) =>
    changeActors('instance', (nft) => (nft.id === told.kept ? { ...nft, owner } : undefined))(ledger)
  await named('nobody')
  onTestFinished(() => named(told.alice.accountId))
  const first = startedAuditor({})
  const found = () => Object.values(first.auditor.measures()?.failed ?? {}).reduce((sum, count) => sum + count, 0)
  await until(() => found() > 0)
  await without('audit_progress', 'document')
  await until(() => first.count('audit_interrupted') > 0)
  expect([found() > 0, first.auditor.isWorking()]).toEqual([true, false])
  await ledger.sql.begin(async (another) => {
    await another`SELECT pg_advisory_xact_lock(${AUDITOR_LOCK}::bigint)`
    await until(() => first.auditor.measures() === undefined)
  })
})
