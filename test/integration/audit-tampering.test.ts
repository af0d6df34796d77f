/**
 * Goal: whoever changes a chain or a transaction behind the ledger's back is found, by the control that it belongs to; and a
 * ledger that nobody has been at is sound. Each way to damage it is tried on a copy of its own.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Case, createTampered, failedOf, foundBy, HASH, run, runAll, type Tampered } from '../support/tampering.ts'

let tampered: Tampered

beforeAll(async () => {
  tampered = await createTampered()
})
afterAll(() => tampered?.close())

async function expectFound([, found, tamper]: Case): Promise<void> {
  expect(await foundBy(tampered, tamper)).toEqual(found)
}

test('an untouched ledger is sound, and everything in it was looked at', async () => {
  await tampered.onCopy(async ({ url, sql }) => {
    const result = await tampered.audit(url)
    const [rows] = await sql`
      SELECT (SELECT count(*)::integer FROM audit_entries) AS chains_verify,
             (SELECT count(*)::integer FROM transactions) AS receipts_verify,
             (SELECT count(*)::integer FROM balances) AS no_negative_balance,
             (SELECT count(*)::integer FROM actors WHERE kind = 'token') AS supply_reconciles,
             (SELECT count(*)::integer FROM actors WHERE kind = 'instance') AS provenance`
    expect(failedOf(result)).toEqual([])
    // The base unit and the two tokens; of one of them nothing ever was.
    expect(result.checked).toEqual({ ...rows, value_is_conserved: 3 })
    // Otherwise some of this was not put to the test.
    const kinds = await sql`SELECT DISTINCT type || ' ' || status AS kind FROM transactions ORDER BY kind`
    const all = ['burn completed', 'credit completed', 'debit completed', 'debit failed', 'exchange completed']
    expect(kinds.map((row): unknown => row['kind'])).toEqual([
      ...all,
      'mint completed',
      'transfer completed',
      'transfer failed',
    ])
    const ends = await sql`SELECT status FROM actors WHERE kind = 'group' ORDER BY status`
    expect(ends.map((row): unknown => row['status'])).toEqual(['reverted', 'settled', 'settled'])
  })
})

const ALICES = "account_id = 'alice-one'"

describe('chains', () => {
  const cases: readonly Case[] = [
    [
      'another amount in the payload of an entry',
      ['chains_verify'],
      run(`UPDATE audit_entries SET payload = replace(payload, '"amount":"100.5"', '"amount":"900.5"')
            WHERE ${ALICES} AND payload LIKE '%"amount":"100.5"%'`),
    ],
    [
      'another hash of an entry',
      ['chains_verify'],
      run(`UPDATE audit_entries SET audit_hash = sha256('x') WHERE ${ALICES} AND sequence = 2`),
    ],
    [
      'an entry rewritten and hashed anew',
      ['chains_verify'],
      runAll(
        `UPDATE audit_entries SET payload = replace(payload, '"amount":"100.5"', '"amount":"900.5"')
          WHERE ${ALICES} AND payload LIKE '%"amount":"100.5"%'`,
        `UPDATE audit_entries SET audit_hash = ${HASH} WHERE ${ALICES}`,
      ),
    ],
    [
      'the last entry rewritten, with the tip and the hash of its transaction',
      ['receipts_verify'],
      runAll(
        `UPDATE audit_entries e SET payload = regexp_replace(payload, '"salt":"[^"]*"', '"salt":"77"') FROM accounts a
          WHERE a.account_id = 'alice-one' AND e.account_id = a.account_id AND e.sequence = a.sequence`,
        `UPDATE audit_entries e SET audit_hash = ${HASH} FROM accounts a
          WHERE a.account_id = 'alice-one' AND e.account_id = a.account_id AND e.sequence = a.sequence`,
        `UPDATE accounts a SET tip = e.audit_hash FROM audit_entries e
          WHERE a.account_id = 'alice-one' AND e.account_id = a.account_id AND e.sequence = a.sequence`,
        `UPDATE transactions t SET audit_hash = e.audit_hash FROM audit_entries e, accounts a
          WHERE a.account_id = 'alice-one' AND e.account_id = a.account_id AND e.sequence = a.sequence
            AND t.txn_id = e.txn_id`,
      ),
    ],
    [
      'the registration rewritten and hashed anew',
      ['chains_verify'],
      runAll(
        `UPDATE audit_entries SET payload = regexp_replace(payload, '"salt":"[^"]*"', '"salt":"77"')
          WHERE ${ALICES} AND sequence = 0`,
        `UPDATE audit_entries SET audit_hash = ${HASH} WHERE ${ALICES} AND sequence = 0`,
      ),
    ],
    ['an entry deleted', ['chains_verify'], run(`DELETE FROM audit_entries WHERE ${ALICES} AND sequence = 3`)],
    ['the registration deleted', ['chains_verify'], run(`DELETE FROM audit_entries WHERE ${ALICES} AND sequence = 0`)],
    [
      'the last entry deleted',
      ['chains_verify'],
      run(`DELETE FROM audit_entries WHERE ${ALICES} AND sequence = (SELECT sequence FROM accounts WHERE ${ALICES})`),
    ],
    [
      'the last entry deleted, and the account put back before it',
      ['chains_verify', 'no_negative_balance'],
      runAll(
        `DELETE FROM audit_entries WHERE ${ALICES} AND sequence = (SELECT sequence FROM accounts WHERE ${ALICES})`,
        `UPDATE accounts a SET sequence = a.sequence - 1, tip = e.audit_hash FROM audit_entries e
          WHERE a.account_id = 'alice-one' AND e.account_id = a.account_id AND e.sequence = a.sequence - 1`,
      ),
    ],
    [
      'an entry that its account does not know of',
      ['chains_verify'],
      run(`INSERT INTO audit_entries (shard_id, account_id, sequence, txn_id, previous_hash, audit_hash, payload)
           SELECT shard_id, account_id, sequence + 1, NULL, tip, sha256('x'), '{}' FROM accounts WHERE ${ALICES}`),
    ],
    [
      'another transaction named',
      ['chains_verify'],
      run(`UPDATE audit_entries SET txn_id = 'txn_x' WHERE ${ALICES} AND sequence = 2`),
    ],
    ['another tip', ['chains_verify'], run(`UPDATE accounts SET tip = sha256('x') WHERE ${ALICES}`)],
    ['another key', ['chains_verify'], run(`UPDATE accounts SET public_key = 'mine', key_id = 'mine' WHERE ${ALICES}`)],
    ['another status', ['chains_verify'], run(`UPDATE accounts SET status = 'frozen' WHERE ${ALICES}`)],
    [
      'a payload that is no JSON',
      ['chains_verify'],
      run(`UPDATE audit_entries SET payload = '{' WHERE ${ALICES} AND sequence = 1`),
    ],
    ['an account deleted', ['chains_verify'], run("DELETE FROM accounts WHERE account_id = 'bob-one'")],
  ]
  test.for(cases)('I6: %s is found', expectFound)
})

describe('transactions', () => {
  const cases: readonly Case[] = [
    [
      'another amount',
      ['chains_verify', 'receipts_verify'],
      run(`UPDATE transactions SET amount = '900.5' WHERE ${ALICES} AND amount = '100.5'`),
    ],
    [
      'another quantity than the amount that was signed',
      ['chains_verify'],
      run(`UPDATE transactions SET quantity = 900.5 WHERE ${ALICES} AND amount = '100.5'`),
    ],
    [
      'another receiver',
      ['chains_verify', 'receipts_verify'],
      run(`UPDATE transactions SET to_account_id = 'mallory' WHERE ${ALICES} AND type = 'transfer' AND amount = '10'`),
    ],
    [
      'other metadata',
      ['chains_verify', 'receipts_verify'],
      run(`UPDATE transactions SET metadata = '{"a":"e"}' WHERE ${ALICES} AND metadata IS NOT NULL`),
    ],
    [
      'another payload than was submitted',
      ['chains_verify'],
      run(
        `UPDATE transactions SET payload = replace(payload, '"100.5"', '"900.5"') WHERE ${ALICES} AND amount = '100.5'`,
      ),
    ],
    [
      'the signature of another receipt',
      ['receipts_verify'],
      run(`UPDATE transactions SET receipt_signature = (SELECT max(receipt_signature) FROM transactions WHERE type = 'debit')
            WHERE ${ALICES} AND type = 'credit' AND amount = '100.5'`),
    ],
    [
      'a receipt that is none',
      ['receipts_verify'],
      run(`UPDATE transactions SET receipt_signature = '!' WHERE ${ALICES} AND amount = '100.5'`),
    ],
    [
      'a receipt under a key that is none of the service',
      ['receipts_verify'],
      run(`UPDATE transactions SET receipt_key_id = 'mine' WHERE ${ALICES} AND amount = '100.5'`),
    ],
    [
      'a receipt under a key for another purpose',
      ['receipts_verify', 'provenance'],
      run("UPDATE service_keys SET purpose = 'token' WHERE purpose = 'receipt'"),
    ],
    [
      'receipts under a key that was put in place of another',
      ['receipts_verify', 'provenance'],
      run(`UPDATE service_keys SET x = (SELECT x FROM service_keys WHERE purpose = 'token'),
                  y = (SELECT y FROM service_keys WHERE purpose = 'token') WHERE purpose = 'receipt'`),
    ],
    [
      'a receipt under a key that was revoked',
      ['receipts_verify', 'provenance'],
      run("UPDATE service_keys SET revoked_at = now() WHERE purpose = 'receipt'"),
    ],
    [
      'receipts of a time at which their key was not in use',
      ['receipts_verify', 'provenance'],
      run("UPDATE service_keys SET active_from = now() + interval '1 day' WHERE purpose = 'receipt'"),
    ],
    [
      'another reason why one failed',
      ['receipts_verify'],
      run("UPDATE transactions SET failure_code = 'expired' WHERE status = 'failed' AND type = 'debit'"),
    ],
    [
      'one that failed made out as completed',
      ['chains_verify', 'receipts_verify'],
      run(
        "UPDATE transactions SET status = 'completed', failure_code = NULL WHERE status = 'failed' AND type = 'debit'",
      ),
    ],
    [
      'one that is completed made out as failed',
      ['chains_verify', 'receipts_verify'],
      run(`UPDATE transactions SET status = 'failed', failure_code = 'expired', sequence = NULL, previous_hash = NULL,
                  audit_hash = NULL WHERE ${ALICES} AND amount = '100.5'`),
    ],
    [
      'one that is completed deleted',
      ['chains_verify'],
      run(`DELETE FROM transactions WHERE ${ALICES} AND amount = '100.5'`),
    ],
    [
      'a type that there is not',
      ['chains_verify', 'receipts_verify'],
      run(`UPDATE transactions SET type = 'gift' WHERE ${ALICES} AND amount = '100.5'`),
    ],
  ]
  test.for(cases)('I7: %s is found', expectFound)
})
