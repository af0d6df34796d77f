/** Goal: what the auditor cannot look at takes nothing from what it has seen: that is recorded. */
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { parseQuantity, type Quantity } from '../../../actors/money.ts'
import type { AuditorSettings } from '../../../infra/audit/auditor.ts'
import {
  type AuditedLedger,
  createAuditedLedger,
  everythingOnce,
  Parties,
  type Told,
} from '../../support/audited-ledger.ts'
import { findingsOf, NEVER_MS, progressOf, startAuditor, untilSeen } from '../../support/auditing.ts'
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

/** Statements that need the column fail for as long as the test lasts. */
async function without(table: string, column: string): Promise<void> {
  const renamed = async (from: string, to: string): Promise<void> => {
    await ledger.sql.unsafe(`ALTER TABLE ${table} RENAME COLUMN ${from} TO ${to}`)
  }
  await renamed(column, 'away')
  onTestFinished(() => renamed('away', column))
}

/** It ends with its test. */
function audited(settings: Partial<AuditorSettings>): () => Promise<void> {
  const { auditor } = startAuditor(ledger, { settings })
  onTestFinished(() => auditor.stop())
  return () => auditor.stop()
}

async function untilFound(place: string): Promise<void> {
  await until(async () => (await findingsOf(ledger)).some((found) => found.place === place))
}

test('all value is looked at where the supply of tokens cannot be', async () => {
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

test('what the pages of a turn have found stands, whatever comes of the page behind them', async () => {
  const named = (owner: string) =>
    changeActors('instance', (nft) => (nft.id === told.kept ? { ...nft, owner } : undefined))(ledger)
  await named('nobody')
  onTestFinished(() => named(told.alice.accountId))
  await without('balances', 'document')
  audited({ workMs: NEVER_MS })
  await untilFound(`NFT ${told.kept}`)
  expect((await progressOf(ledger))?.last).toBeNull()
})
