/**
 * The auditor repeats passes over all rows, and its tail checks new rows. It stores its progress, continues after a
 * restart, lists findings until the damage is repaired, and uses at most its share of a processor.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { parseQuantity, type Quantity } from '../../../actors/money.ts'
import { openProgressStore } from '../../../infra/audit/progress-store.ts'
import { beginPass, coveredBy, newProgress, notePass } from '../../../infra/audit/progress.ts'
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
  untilPasses,
  untilSeen,
} from '../../support/auditing.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'
import { changeActors, changeBase, changeTransactions } from '../../support/postgres/tampering-with-keys.ts'
import type { Clock } from '../../../runtime/ports/clock.ts'
import { createSystemClock } from '../../../infra/system/clock-system.ts'

const ONE = parseQuantity('1')

/** A pass takes more turns. */
const TURNS_BEFORE_REST = 3

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

/** Starts an auditor that ends with the test: a ledger has one at a time. */
function startedAuditor(...given: Parameters<typeof startAuditor>): AuditorUnderTest {
  const audit = startAuditor(...given)
  onTestFinished(() => audit.auditor.stop())
  return audit
}

async function countsOf(): Promise<Readonly<Record<string, number>>> {
  const [rows] = await ledger.sql<Record<string, number>[]>`
    SELECT (SELECT count(*)::integer FROM chain_entries) AS chains_verify,
           (SELECT count(*)::integer FROM transactions) AS receipts_verify,
           (SELECT count(*)::integer FROM actors WHERE kind = 'instance') AS provenance`
  return { ...rows }
}

/** Counts of the last complete pass and of rows written since. */
async function covered(): Promise<Readonly<Record<string, number>>> {
  const progress = await progressOf(ledger)
  const { chains_verify, receipts_verify, provenance } = progress === undefined ? {} : coveredBy(progress)
  return { chains_verify: chains_verify ?? 0, receipts_verify: receipts_verify ?? 0, provenance: provenance ?? 0 }
}

/** Submits an exchange offer without a matching one. Returns the ID of its transaction. */
function offer(lastsMs: number): Promise<string> {
  return parties.submit(told.alice, {
    type: 'exchange',
    group_id: randomUUID(),
    to_account_id: told.bob.accountId,
    expires_at: new Date(Date.now() + lastsMs).toISOString(),
    amount: '1',
    token_id: 'GOLD-one',
    receive: { amount: '1', token_id: 'silver-one' },
  })
}

describe('a pass', () => {
  test('P1: the last pass and the tail together count every row once', async () => {
    const audit = startedAuditor(ledger, { settings: { betweenPassesMs: NEVER_MS } })
    await until(() => audit.count('audit_pass_complete') === 1)
    expect(await covered()).toEqual(await countsOf())
    await everythingOnce(parties, 'since')
    await untilSeen(ledger)
    expect(await covered()).toEqual(await countsOf())
    const since = (await progressOf(ledger))?.last?.since
    expect(Math.min(since?.chains_verify ?? 0, since?.receipts_verify ?? 0, since?.provenance ?? 0)).toBeGreaterThan(0)
    expect(audit.count('audit_pass_complete')).toBe(1)
    await audit.auditor.stop()
    expect(await findingsOf(ledger)).toEqual([])
  })

  test('P1: rows that are written during a pass are counted once', async () => {
    const audit = startedAuditor(ledger)
    await everythingOnce(parties, 'meanwhile')
    await until(() => audit.count('audit_pass_complete') > 0)
    await untilSeen(ledger)
    expect(await covered()).toEqual(await countsOf())
    await audit.auditor.stop()
    expect(await findingsOf(ledger)).toEqual([])
  })

  test('P1: a transaction that fails between the start of a pass and its check is counted once', async () => {
    const clock = createSystemClock()
    let goOn: (() => void) | undefined
    let passes = (): number => 0
    let rests = 0
    // Stops the auditor in the middle of the second pass until `goOn`, and permanently after that pass.
    const after: Clock['after'] = (delayMs, run) => {
      rests = passes() === 1 ? rests + 1 : 0
      if (rests !== 2 && passes() < 2) return clock.after(delayMs, run)
      goOn = run
      return { cancel: () => undefined }
    }
    // A slow machine needs this time to reach the second pass before the offer expires.
    const txnId = await offer(8_000)
    const audit = startedAuditor(ledger, { clock: { ...clock, after } })
    passes = () => audit.count('audit_pass_complete')
    await until(() => goOn !== undefined)
    expect(await ledger.sql`SELECT txn_id FROM pending_transactions`).toEqual([{ txn_id: txnId }])
    expect((await progressOf(ledger))?.pass?.place.walk).not.toBe('transactions')
    await parties.atRest()
    expect(await ledger.sql`SELECT status FROM transactions WHERE txn_id = ${txnId}`).toEqual([{ status: 'failed' }])
    goOn?.()
    await until(() => passes() === 2)
    await until(async () => (await progressOf(ledger))?.pass === null)
    expect(await covered()).toEqual(await countsOf())
  })

  test('A1, S2: a second auditor waits for the first to end, and continues its pass', async () => {
    let turns = 0
    const clock = createSystemClock()
    // Stops the auditor permanently in the middle of its first pass.
    const after: Clock['after'] = (delayMs, run) => {
      turns += 1
      return turns < TURNS_BEFORE_REST ? clock.after(delayMs, run) : { cancel: () => undefined }
    }
    const first = startedAuditor(ledger, { clock: { ...clock, after } })
    await until(() => turns === TURNS_BEFORE_REST)
    const left = (await progressOf(ledger))?.pass
    expect(left?.checked.provenance).toBeGreaterThan(0)
    expect(await openProgressStore(ledger.url, ledger.vault)).toBeUndefined()
    const second = startedAuditor(ledger, { settings: { betweenPassesMs: NEVER_MS } })
    await first.auditor.stop()
    await until(() => second.count('audit_pass_complete') > 0)
    await second.auditor.stop()
    expect([first.count('audit_begun'), second.count('audit_begun')]).toEqual([1, 1])
    expect((await progressOf(ledger))?.last?.number).toBe(left?.number)
    expect(await covered()).toEqual(await countsOf())
  })

  test('P2: a finding stays listed until the first pass after the repair', async () => {
    const audit = startedAuditor(ledger)
    await untilPasses(audit, 1)
    expect(await findingsOf(ledger)).toEqual([])
    const raise = (by: Quantity) =>
      changeBase(told.alice.accountId, ({ balance }) => ({ balance: balance + by }))(ledger)
    await raise(ONE)
    const wrong = [
      { subject: 'no_negative_balance', place: `account ${ledger.vault.accountRef(told.alice.accountId)}, BASE` },
      { subject: 'value_is_conserved', place: 'asset BASE' },
    ]
    await untilPasses(audit, 1)
    expect(await findingsOf(ledger)).toEqual(wrong)
    expect(audit.logged.find(({ event }) => event === 'audit_found')?.fields).toMatchObject({ count: 1 })
    await untilPasses(audit, 1)
    expect(await findingsOf(ledger)).toEqual(wrong)
    const [written] = await ledger.sql<{ all: string }[]>`
      SELECT concat((SELECT json_agg(f) FROM audit_findings f),
                    (SELECT json_agg(p) FROM audit_progress p)) AS all`
    expect(written?.all).not.toContain(told.alice.accountId)
    await raise(-ONE)
    await untilPasses(audit, 2)
    expect(await findingsOf(ledger)).toEqual([])
    await audit.auditor.stop()
  })

  test('the auditor begins anew if its progress is ahead of the database, as after a restore', async () => {
    const progress = newProgress('9000000000000', 1)
    await ledger.sql`INSERT INTO audit_progress (document, updated_at) VALUES (${JSON.stringify(progress)}, now())`
    const audit = startedAuditor(ledger)
    await until(() => audit.count('audit_pass_complete') > 0)
    await audit.auditor.stop()
    expect(audit.count('audit_begins_anew')).toBe(1)
    expect(await covered()).toEqual(await countsOf())
  })
})

describe('the tail', () => {
  /** Runs `work` with an auditor that makes no pass after the first. */
  async function tailOnly<T>(work: () => Promise<T>): Promise<T> {
    const audit = startedAuditor(ledger, { settings: { betweenPassesMs: NEVER_MS, betweenMomentsMs: NEVER_MS } })
    try {
      await until(() => audit.count('audit_pass_complete') === 1)
      return await work()
    } finally {
      await audit.auditor.stop()
    }
  }

  test('T1: the tail does not skip rows of a commit that is still in flight', async () => {
    await tailOnly(async () => {
      const before = await progressOf(ledger)
      let written: () => void = () => undefined
      let end: () => void = () => undefined
      const hasBegun = new Promise<void>((resolve) => (written = resolve))
      const mayEnd = new Promise<void>((resolve) => (end = resolve))
      const slow = ledger.sql.begin(async (transaction) => {
        await transaction`
          INSERT INTO audit_entries (shard_id, account_id, sequence, previous_hash, audit_hash, payload)
          VALUES (0, 'late', 0, sha256('x'), sha256('x'), '{}')`
        written()
        await mayEnd
      })
      await hasBegun
      // Meanwhile other commits complete, and the auditor takes turns.
      await parties.submit(told.alice, { type: 'credit', amount: '1' })
      const turns = async (): Promise<number> => {
        const [row] = await ledger.sql<{ updated_at: Date }[]>`SELECT updated_at FROM audit_progress`
        return row?.updated_at.getTime() ?? 0
      }
      const atMs = await turns()
      await until(async () => (await turns()) > atMs)
      expect(await findingsOf(ledger)).toEqual([])
      expect((await progressOf(ledger))?.tail.asOfMs).toBeGreaterThanOrEqual(before?.tail.asOfMs ?? 0)
      end()
      await slow
      await untilSeen(ledger)
      await ledger.sql`DELETE FROM audit_entries WHERE account_id = 'late'`
      expect(await findingsOf(ledger)).toEqual([{ subject: 'chains_verify', place: 'account late, entry 0' }])
    })
  })

  test('a commit with more rows than the ledger ever writes at once causes a new pass', async () => {
    const audit = startedAuditor(ledger, { settings: { betweenPassesMs: NEVER_MS } })
    await until(() => audit.count('audit_pass_complete') === 1)
    await ledger.sql`
      INSERT INTO nft_events (shard_id, nft_id, number, type, to_account_id, txn_id, occurred_at, previous_hash, event_hash,
                              payload)
      SELECT 0, 'cls_x/' || n, 0, 'mint', 'x', 'txn_x', now(), sha256('x'), sha256('x'), '{}'
        FROM generate_series(0, 10000) n`
    await until(() => audit.count('audit_pass_complete') === 2)
    await audit.auditor.stop()
    await ledger.sql`DELETE FROM nft_events WHERE payload = '{}'`
    expect(audit.count('audit_begins_anew')).toBe(1)
    expect((await findingsOf(ledger)).map(({ subject }) => subject)).toContain('provenance')
  })

  test('an auditor checks the tokens that changed before its start', async () => {
    const tokens = await tailOnly(async () => {
      await parties.submit(told.alice, { type: 'burn', amount: '1', token_id: 'GOLD-one' })
      await parties.atRest()
      await untilSeen(ledger)
      return (await progressOf(ledger))?.tail.tokens
    })
    expect(tokens).toEqual(['gold-one'])
    const gold = (change: (supply: string) => string) =>
      changeActors('token', (token) =>
        token.id === 'gold-one' ? { ...token, totalSupply: change(token.totalSupply) } : undefined,
      )(ledger)
    await gold((supply) => `9${supply}`)
    const audit = startedAuditor(ledger, { settings: { betweenPassesMs: NEVER_MS } })
    await until(async () => (await progressOf(ledger))?.tail.tokens.length === 0)
    await audit.auditor.stop()
    await gold((supply) => supply.slice(1))
    expect(await findingsOf(ledger)).toEqual([
      { subject: 'supply_reconciles', place: 'token gold-one' },
      { subject: 'value_is_conserved', place: 'asset GOLD-one' },
    ])
  })

  test('T3: the tail checks the receipt of a transaction that failed long after its entry', async () => {
    await tailOnly(async () => {
      const txnId = await offer(600_000)
      await untilSeen(ledger)
      expect(await ledger.sql`SELECT txn_id FROM pending_transactions`).toEqual([{ txn_id: txnId }])
      await changeTransactions(({ transaction }) => {
        if (transaction.txnId !== txnId) return undefined
        const failure = { code: 'exchange_expired', detail: '' } as const
        return {
          transaction: { ...transaction, status: 'failed', failure, processedAtMs: Date.now() },
          receipt: { keyId: 'mine', signature: 'mine' },
        }
      })(ledger)
      await untilSeen(ledger)
      expect(await findingsOf(ledger)).toEqual([{ subject: 'receipts_verify', place: `transaction ${txnId}` }])
    })
  })
})

describe('the limits of an auditor', () => {
  test('S3: a thousand findings of a subject are listed and the others counted; the next pass replaces them', async () => {
    const store = await openProgressStore(ledger.url, ledger.vault)
    if (store === undefined) throw new Error('another auditor runs')
    const named = (count: number, from = 0) =>
      Array.from({ length: count }, (_, index) => ({
        subject: 'receipts_verify' as const,
        place: `transaction ${String(from + index).padStart(5, '0')}`,
        problem: 'it is wrong',
      }))
    const seen = { checked: {}, findings: [] }
    const first = beginPass(newProgress('1', 1), 1)
    const { progress: saved, listed } = await store.save({ progress: first, findings: named(1_500) })
    expect(saved.pass?.unlisted).toEqual({ receipts_verify: 500 })
    expect(listed).toEqual({ receipts_verify: 1_000 })
    expect(await findingsOf(ledger)).toHaveLength(1_000)
    const { progress: again } = await store.save({ progress: saved, findings: [...named(1_000), ...named(1)] })
    expect(again.pass?.unlisted).toEqual({ receipts_verify: 500 })
    const second = beginPass(notePass(again, null, seen, 2), 3)
    const { progress: found } = await store.save({ progress: second, findings: named(7, 1_498) })
    expect(found.pass?.unlisted).toEqual({ receipts_verify: 7 })
    const complete = await store.save({ progress: notePass(found, null, seen, 4), findings: [] })
    expect(complete.listed).toEqual({})
    expect(complete.progress.last?.unlisted).toEqual({ receipts_verify: 7 })
    expect(await findingsOf(ledger)).toHaveLength(0)
    await store.close()
  })

  test('S4: the stored progress of a pass contains no account and no amount in plain text, and can be continued', async () => {
    const store = await openProgressStore(ledger.url, ledger.vault)
    if (store === undefined) throw new Error('another auditor runs')
    const books = { assets: [['BASE', '100.5', '100.5', '0']], legs: [] } as const
    const place = { walk: 'chains', cursor: { at: 'accounts', owner: told.alice.accountId, books } } as const
    const pass = beginPass(newProgress('1', 1), 1).pass
    if (pass === null) throw new Error('a pass has begun')
    const progress = { ...newProgress('1', 1), pass: { ...pass, place } }
    await store.save({ progress, findings: [] })
    const [row] = await ledger.sql<{ document: string }[]>`SELECT document FROM audit_progress`
    expect(row?.document).not.toMatch(/alice|100\.5|BASE/)
    expect(await store.load()).toEqual({ ...progress, sealedPlace: expect.any(String) })
    // A changed place does not open, and the pass begins anew.
    await ledger.sql`UPDATE audit_progress SET document = replace(document, '"sealedPlace":"01', '"sealedPlace":"0101')`
    expect((await store.load())?.pass).toBeNull()
    await store.close()
  })

  test.for([
    [0, 8, 10],
    [5, 3, 5],
  ] as const)(
    'A3: with a tenth of a processor and waits %i times its work it pauses %i to %i times as long as it works',
    async ([waits, least, most]) => {
      const clock = createSystemClock()
      const rests: number[] = []
      const works: number[] = []
      let sinceMs = clock.monotonic()
      const after: Clock['after'] = (delayMs, run) => {
        works.push(clock.monotonic() - sinceMs)
        rests.push(delayMs)
        return clock.after(0, () => {
          sinceMs = clock.monotonic()
          run()
        })
      }
      // The auditor works for this part of the elapsed time, and waits for the rest.
      const workedMs = (): number => clock.monotonic() / (1 + waits)
      const audit = startedAuditor(ledger, { clock: { ...clock, after }, share: 0.1, workedMs })
      await until(async () => ((await progressOf(ledger))?.last?.number ?? 0) > 0)
      await audit.auditor.stop()
      const sum = (values: readonly number[]): number => values.slice(1).reduce((total, value) => total + value, 0)
      expect(rests.length).toBeGreaterThan(5)
      const ratio = sum(rests) / (sum(works) / (1 + waits))
      expect(ratio).toBeGreaterThan(least)
      expect(ratio).toBeLessThan(most)
    },
  )
})
