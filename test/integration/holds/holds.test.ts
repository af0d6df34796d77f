/** Holds on a real ledger: random captures, releases and expiries race, and no unit is paid twice or lost. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatQuantity, parseQuantity, type Quantity, ZERO } from '../../../actors/money.ts'
import { createLedgerEvents } from '../../../infra/postgres/reads/ledger-events-postgres.ts'
import { createLedgerReads, type PostgresLedgerReads } from '../../../infra/postgres/reads/ledger-reads-postgres.ts'
import { homeOf, shardOf } from '../../contract/ledger-reads/ledger-reads-postgres-subject.ts'
import { createSeededRandom } from '../../simulation/kernel/sim-random.ts'
import { answered, PartiesOfHolds } from '../../support/audited-holds.ts'
import { type AuditedLedger, createAuditedLedger, Parties } from '../../support/audited-ledger.ts'
import { findingsOf, startAuditor } from '../../support/auditing.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'

const HOLDS = 60
const CAPTURES = 300
const AMOUNT = '10'

let ledger: AuditedLedger
let reads: PostgresLedgerReads
let parties: Parties
let holding: PartiesOfHolds

beforeAll(async () => {
  ledger = await createAuditedLedger()
  const { url, ledgerId, vault } = ledger
  reads = createLedgerReads({ url, ledgerId, shardOf, homeOf, vault })
  parties = new Parties(ledger)
  const payer = await parties.open('payer')
  holding = new PartiesOfHolds(parties, payer, await parties.open('beneficiary'))
  await answered(() => parties.submit(payer, { type: 'credit', amount: '1000', idempotency_key: 'funds' }))
})
afterAll(async () => {
  await reads?.close()
  await ledger?.close()
})

async function balanceOf(accountId: string): Promise<readonly (string | undefined)[]> {
  const [held] = (await reads.balances(accountId)) ?? []
  return [held?.balance, held?.available]
}

function sumOf(amounts: readonly string[]): Quantity {
  return amounts.reduce<Quantity>((sum, amount) => sum + parseQuantity(amount), ZERO)
}

test('racing captures, releases and expiries pay each captured unit once', { timeout: 120_000 }, async () => {
  const random = createSeededRandom(25)
  const holds = await Promise.all(
    Array.from({ length: HOLDS }, () => holding.held(AMOUNT, Date.now() + 500 + random.integer(4_000))),
  )
  const pick = (): string => holds[random.integer(HOLDS)]?.holdId ?? ''
  const captures = await Promise.all(
    Array.from({ length: CAPTURES }, async () => {
      if (random.chance(0.1)) await holding.release(pick())
      return holding.capture(pick(), `${1 + random.integer(6)}.5`, random.chance(0.1))
    }),
  )
  await parties.atRest()
  const ended = await Promise.all(holds.map(({ holdId }) => reads.hold(holdId)))
  const statuses = new Set(ended.map((hold) => hold?.status))
  expect(statuses).toEqual(new Set(['captured', 'released', 'expired']))
  const details = await Promise.all(captures.map((txnId) => reads.transaction(txnId)))
  const paid = details.filter((detail) => detail?.status === 'completed')
  expect(new Set(details.map((detail) => detail?.failure?.code))).toContain('hold_exceeded')
  const captured = new Map<string, string[]>()
  for (const detail of paid) {
    const holdId = detail?.holdId ?? ''
    captured.set(holdId, [...(captured.get(holdId) ?? []), detail?.amount ?? ''])
  }
  for (const hold of ended) {
    const sum = sumOf(captured.get(hold?.holdId ?? '') ?? [])
    expect(hold?.captured).toBe(formatQuantity(sum))
    expect(sum <= parseQuantity(AMOUNT)).toBe(true)
  }
  const total = formatQuantity(sumOf(paid.map((detail) => detail?.amount ?? '')))
  const left = formatQuantity(parseQuantity('1000') - parseQuantity(total))
  expect(await balanceOf('beneficiary')).toEqual([total, total])
  expect(await balanceOf('payer')).toEqual([left, left])
})

test('each creation, capture and end of a hold is an event of its payer', async () => {
  const { url, ledgerId, vault } = ledger
  const events = createLedgerEvents({ url, ledgerId, vault })
  const { events: all } = await events.read(null, 5_000)
  await events.close()
  const [ends] = await ledger.sql<{ created: number; captured: number; expired: number }[]>`
    SELECT count(*)::integer AS created, count(*) FILTER (WHERE status = 'captured')::integer AS captured,
           count(*) FILTER (WHERE status = 'expired')::integer AS expired FROM actors WHERE kind = 'hold'`
  const named = (name: string) => all.filter((event) => event.name === name)
  expect(named('hold.created')).toHaveLength(ends?.created ?? 0)
  expect(named('hold.expired')).toHaveLength(ends?.expired ?? 0)
  expect(named('hold.released').length).toBeGreaterThan(0)
  for (const { subject, accountIds, tokenIds, timeMs } of [...named('hold.created'), ...named('hold.expired')]) {
    expect([subject, accountIds, tokenIds, timeMs]).toEqual(['payer', ['payer'], ['BASE'], expect.any(Number)])
  }
  const captures = named('transaction.completed').filter(
    ({ content, subject }) =>
      content.kind === 'transaction' && content.transaction.holdId !== undefined && subject === 'payer',
  )
  expect(captures.length).toBeGreaterThan(ends?.captured ?? 0)
})

test('the auditor finds nothing wrong', { timeout: 60_000 }, async () => {
  const audit = startAuditor(ledger)
  await until(() => audit.count('audit_pass_complete') > 0)
  await audit.auditor.stop()
  expect(await findingsOf(ledger)).toEqual([])
})
