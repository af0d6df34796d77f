/** The tail finds rows that no commit of the ledger wrote, without a pass (tail.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Found, findingsOf, NEVER_MS, startAuditor, untilSeen } from '../../support/auditing.ts'
import { vaultOf } from '../../support/postgres/ledger-database.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'
import { createTampered, type Tamper, type Tampered } from '../../support/postgres/tampering.ts'
import { withoutKeys } from '../../support/postgres/tampering-without-keys.ts'

let tampered: Tampered

beforeAll(async () => {
  tampered = await createTampered()
})
afterAll(() => tampered?.close())

const { namesOf, sql } = withoutKeys(() => tampered)

function tailFound(tamper: Tamper): Promise<readonly Found[]> {
  return tampered.onCopy(async (copy) => {
    const ledger = { ...copy, ledgerId: tampered.ledgerId, vault: await vaultOf(copy.url) }
    const settings = { betweenPassesMs: NEVER_MS, betweenMomentsMs: NEVER_MS }
    const { auditor, count } = startAuditor(ledger, { settings })
    try {
      await until(() => count('audit_pass_complete') === 1)
      await tamper(copy)
      await untilSeen(ledger)
      return await findingsOf(ledger)
    } finally {
      await auditor.stop()
    }
  })
}

type Case = readonly [what: string, tamper: Tamper, named: readonly string[]]

const CREDIT =
  "type = 'credit' AND status = 'completed' AND origin = 'client' AND group_id IS NULL AND account_id = BOB"
/** Gives the transaction an unknown receipt key and another commit than the one that names it. */
const ofCommit = (commit: string): readonly string[] => [
  `UPDATE transactions SET entered_xid = '${commit}', ended_xid = '${commit}', receipt_key_id = 'another' WHERE ${CREDIT}`,
  `INSERT INTO commits (final, pending, ended) SELECT array_agg(txn_id), '{}', '{}' FROM transactions WHERE ${CREDIT}`,
]
const txn = [
  'chains_verify: account bob, entry 1',
  'chains_verify: transaction txn',
  'receipts_verify: transaction txn',
]
const cases: readonly Case[] = [
  [
    'an entry beyond the end of its chain',
    sql(`INSERT INTO audit_entries (shard_id, account_id, sequence, previous_hash, audit_hash, payload)
         SELECT shard_id, account_id, 777, tip, sha256('x'), '{}' FROM accounts WHERE account_id = ALICE`),
    ['chains_verify: account alice, entry 777'],
  ],
  [
    'a transaction beyond the end of its chain',
    sql(
      `INSERT INTO transactions
         SELECT (jsonb_populate_record(t, jsonb_build_object('txn_id', 'txn_forged', 'idempotency_key', 'forged',
                   'sequence', 999, 'ended_xid', pg_current_xact_id()::text))).*
           FROM transactions t WHERE ${CREDIT}`,
      "INSERT INTO commits (final, pending, ended) VALUES (ARRAY['txn_forged'], '{}', '{}')",
    ),
    [
      'chains_verify: account bob, entry 999',
      'chains_verify: transaction txn_forged',
      'receipts_verify: transaction txn_forged',
    ],
  ],
  ['a transaction in the commit log with an old commit ID in its row', sql(...ofCommit('1')), txn],
  ['a transaction in the commit log with a future commit ID in its row', sql(...ofCommit('9000000000000')), txn],
  [
    'an NFT whose owner does not follow from its history',
    sql(`INSERT INTO nft_events (shard_id, nft_id, number, type, from_account_id, to_account_id, txn_id, occurred_at,
                                 previous_hash, event_hash, payload)
         SELECT shard_id, nft_id, number + 1, 'transfer', to_account_id, 'mallory', txn_id, occurred_at, event_hash,
                sha256('x'), '{}'
           FROM nft_events WHERE nft_id = TRAVELLED ORDER BY number DESC LIMIT 1`),
    ['provenance: NFT class/travelled', 'provenance: NFT class/travelled, entry 4'],
  ],
]
test.for(cases)('T2: the tail finds %s', async ([, tamper, named]) => {
  expect(namesOf(await tailFound(tamper))).toEqual(named)
})
