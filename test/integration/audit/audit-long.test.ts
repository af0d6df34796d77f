/** An audit checks chains and histories of several pages completely. Different processes may check the pages. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuditReads } from '../../../infra/audit/audit-reads.ts'
import { PAGE_WEIGHT } from '../../../infra/audit/chain-rows.ts'
import { EVENTS_PAGE_SIZE } from '../../../infra/audit/nft-rows.ts'
import { beginPass, newProgress, notePass } from '../../../infra/audit/progress.ts'
import { type PassPlace, stepPass, WHOLE_PASS } from '../../../infra/audit/pass.ts'
import { loadReceiptCheck } from '../../../infra/audit/receipt-check.ts'
import { type AuditedLedger, createAuditedLedger, Parties } from '../../support/audited-ledger.ts'
import { findingsOf, NEVER_MS, progressOf, startAuditor, untilSeen } from '../../support/auditing.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'
import { walkLedger, type WalkedLedger } from '../../support/postgres/tampering.ts'
import { changeEntries } from '../../support/postgres/tampering-with-keys.ts'

let ledger: AuditedLedger
let nftId: string

beforeAll(async () => {
  ledger = await createAuditedLedger()
  const parties = new Parties(ledger)
  // With the entry of the registration: exactly a page, one entry more, and many more.
  const lengths = [
    ['whole', PAGE_WEIGHT - 1],
    ['over', PAGE_WEIGHT],
    ['busy', PAGE_WEIGHT + 50],
  ] as const
  await Promise.all([travel(parties), credit(parties, lengths)])
  await parties.atRest()
})
afterAll(() => ledger?.close())

/** Credits one account at a time: a node accepts no more concurrent orders. */
async function credit(parties: Parties, lengths: readonly (readonly [string, number])[]): Promise<void> {
  for (const [accountId, count] of lengths) {
    const party = await parties.open(accountId)
    await Promise.all(Array.from({ length: count }, () => parties.submit(party, { type: 'credit', amount: '1' })))
  }
}

/** Transfers an NFT to and fro until its history exceeds a page. */
async function travel(parties: Parties): Promise<void> {
  const [issuer, other] = [await parties.open('issuer'), await parties.open('other')]
  const classId = await parties.registerClass('Travelled far', issuer)
  nftId = await parties.mint(issuer, classId, 'far')
  const isAt = (accountId: string) =>
    until(async () => {
      const owner = ledger.vault.accountRef(accountId)
      return (await ledger.sql`SELECT FROM actors WHERE kind = 'instance' AND owner = ${owner}`).length > 0
    })
  await isAt('issuer')
  const nft = { type: 'transfer', class_id: classId, instance_id: 'far', amount: '1' }
  for (let move = 0; move < EVENTS_PAGE_SIZE + 5; move += 1) {
    const [from, to] = move % 2 === 0 ? [issuer, other] : [other, issuer]
    await parties.submit(from, { ...nft, to_account_id: to.accountId })
    await isAt(to.accountId)
  }
}

function walked(): Promise<WalkedLedger> {
  return walkLedger(ledger.url, ledger.ledgerId, ledger.vault)
}

test('W3, N4: a walk of undamaged chains and histories of several pages has no findings', async () => {
  const { findings, places } = await walked()
  expect(findings).toEqual([])
  const within = (walk: string) => places.filter((place) => place.includes(`"${walk}"`) && place.includes('"sequence"'))
  expect(within('chains')).toHaveLength(2)
  expect(places.filter((place) => place.includes('"owner"'))).toHaveLength(1)
})

test('T1: the tail reads many commits in windows, and counts every row once', async () => {
  const fresh = newProgress('1', 1)
  const nothing = { checked: {}, findings: [] }
  const progress = notePass(beginPass(fresh, 1), null, nothing, Date.now())
  await ledger.sql`INSERT INTO audit_progress (document, updated_at) VALUES (${JSON.stringify(progress)}, now())`
  const audit = startAuditor(ledger, { settings: { betweenPassesMs: NEVER_MS } })
  await untilSeen(ledger)
  await audit.auditor.stop()
  const [rows] = await ledger.sql`
    SELECT (SELECT count(*)::integer FROM chain_entries) AS chains_verify,
           (SELECT count(*)::integer FROM transactions) AS receipts_verify, 1 AS provenance`
  expect((await progressOf(ledger))?.last?.since).toEqual({ ...rows })
  expect(await findingsOf(ledger)).toEqual([])
})

test('W1, N1: a walk finds changes on a later page', async () => {
  const { accountRef } = ledger.vault
  await changeEntries('busy', (entry) =>
    entry.sequence === PAGE_WEIGHT + 20
      ? { ...entry, payload: entry.payload.replace('"amount":"1"', '"amount":"2"') }
      : undefined,
  )(ledger)
  await ledger.sql`UPDATE nft_events SET to_account_id = 'mallory' WHERE number = ${EVENTS_PAGE_SIZE + 1}`
  const { findings } = await walked()
  expect(findings.map(({ place }) => place)).toEqual([
    `NFT ${nftId}, entry ${EVENTS_PAGE_SIZE + 1}`,
    `NFT ${nftId}, entry ${EVENTS_PAGE_SIZE + 2}`,
    `account ${accountRef('busy')}, entry ${PAGE_WEIGHT + 20}`,
    // The entry matches neither the hash nor the receipt of its transaction.
    expect.stringMatching(/^transaction txn_/),
    expect.stringMatching(/^transaction txn_/),
  ])
})

test('G2: a walk finds the deletion of an account and an NFT between two of its pages', async () => {
  const reads = createAuditReads(ledger.url, 'audit test', ledger.vault)
  const receiptProblem = await loadReceiptCheck(reads.query, ledger.ledgerId)
  const look = { ...reads, receiptProblem, countBelow: null }
  const { places } = await walked()
  const left = places.filter((place) => place.includes('"owner"') || place.includes('"sequence"'))
  const busy = ledger.vault.accountRef('busy')
  await ledger.sql`DELETE FROM accounts WHERE account_id = ${busy}`
  await ledger.sql`DELETE FROM actors WHERE kind = 'instance'`
  const steps = await Promise.all(left.map((place) => stepPass(WHOLE_PASS, look, JSON.parse(place) as PassPlace)))
  await reads.close()
  expect(steps.flatMap(({ seen }) => seen.findings.map(({ place, problem }) => `${place}: ${problem}`))).toEqual([
    `NFT ${nftId}: it is gone`,
    `account ${busy}: it is gone`,
  ])
})
