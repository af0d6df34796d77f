/**
 * Goal: whoever changes value, supply or whose an NFT is behind the ledger's back is found, by the control that it belongs
 * to. Each way to damage it is tried on a copy of its own.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Case, createTampered, foundBy, HASH, run, runAll, type Tampered } from '../support/tampering.ts'

let tampered: Tampered

beforeAll(async () => {
  tampered = await createTampered()
})
afterAll(() => tampered?.close())

async function expectFound([, found, tamper]: Case): Promise<void> {
  expect(await foundBy(tampered, tamper)).toEqual(found)
}

const ALICES = "account_id = 'alice-one'"

describe('value', () => {
  const cases: readonly Case[] = [
    [
      'a balance raised',
      ['value_is_conserved', 'no_negative_balance'],
      run(`UPDATE balances SET balance = balance + 1 WHERE ${ALICES} AND token_id = 'BASE'`),
    ],
    [
      'value moved from one balance to another',
      ['no_negative_balance'],
      runAll(
        `UPDATE balances SET balance = balance + 1 WHERE ${ALICES} AND token_id = 'BASE'`,
        "UPDATE balances SET balance = balance - 1 WHERE account_id = 'bob-one' AND token_id = 'BASE'",
      ),
    ],
    [
      'a balance made incoming',
      ['value_is_conserved', 'no_negative_balance'],
      run(`UPDATE balances SET balance = balance - 1, incoming = incoming + 1 WHERE ${ALICES} AND token_id = 'BASE'`),
    ],
    [
      'something reserved for nothing',
      ['no_negative_balance'],
      run(`UPDATE balances SET reserved = 1 WHERE ${ALICES} AND token_id = 'BASE'`),
    ],
    [
      'a balance below zero',
      ['value_is_conserved', 'no_negative_balance'],
      async (copy) => {
        await copy.sql.unsafe(
          'ALTER TABLE balances DROP CONSTRAINT balances_balance_check, DROP CONSTRAINT balances_check',
        )
        await run(`UPDATE balances SET balance = -1 WHERE ${ALICES} AND token_id = 'BASE'`)(copy)
      },
    ],
    [
      'a balance that is no number',
      ['value_is_conserved', 'no_negative_balance'],
      run(`UPDATE balances SET balance = 'NaN' WHERE ${ALICES} AND token_id = 'BASE'`),
    ],
    [
      'a balance deleted',
      ['value_is_conserved', 'no_negative_balance'],
      run(`DELETE FROM balances WHERE ${ALICES} AND token_id = 'BASE'`),
    ],
    [
      'another sum of what came over the boundary',
      ['value_is_conserved'],
      run("UPDATE boundary_totals SET credited = credited + 1 WHERE token_id = 'BASE'"),
    ],
    ['a supply raised', ['value_is_conserved', 'supply_reconciles'], run(supplyChange('totalSupply', '5000'))],
    [
      'a supply raised, and the sum at the boundary with it',
      ['supply_reconciles'],
      runAll(
        `INSERT INTO boundary_totals (session, token_id, credited, debited)
         SELECT 'mine', document::json ->> 'tokenId', (document::json ->> 'totalSupply')::numeric, 5000
           FROM actors WHERE kind = 'token' AND actor_id = 'gold-one'`,
        supplyChange('totalSupply', '5000'),
      ),
    ],
    ['another initial supply', ['supply_reconciles'], run(supplyChange('initialSupply', '5000'))],
    [
      'a supply that is no number',
      ['value_is_conserved', 'supply_reconciles'],
      run(supplyChange('totalSupply', 'much')),
    ],
    [
      'a document of a token that is none',
      ['value_is_conserved', 'supply_reconciles'],
      run("UPDATE actors SET document = '{' WHERE kind = 'token' AND actor_id = 'gold-one'"),
    ],
  ]
  test.for(cases)('I4, I5: %s is found', expectFound)
})

function supplyChange(member: string, to: string): string {
  return `UPDATE actors SET document = regexp_replace(document, '"${member}":"[^"]*"', '"${member}":"${to}"')
           WHERE kind = 'token' AND actor_id = 'gold-one'`
}

describe('NFTs', () => {
  const travelled = "nft_id LIKE '%/travelled'"
  const instance = "kind = 'instance' AND actor_id LIKE '%/travelled'"
  const cases: readonly Case[] = [
    [
      'another receiver in the payload of an entry',
      ['provenance'],
      run(`UPDATE nft_events SET payload = replace(payload, '"to":"bob-one"', '"to":"mallory"')
            WHERE ${travelled} AND number = 1`),
    ],
    [
      'another receiver beside the payload',
      ['provenance'],
      run(`UPDATE nft_events SET to_account_id = 'mallory' WHERE ${travelled} AND number = 1`),
    ],
    [
      'another time beside the payload',
      ['provenance'],
      run(`UPDATE nft_events SET occurred_at = occurred_at - interval '1 day' WHERE ${travelled} AND number = 1`),
    ],
    [
      'another hash',
      ['provenance'],
      run(`UPDATE nft_events SET event_hash = sha256('x') WHERE ${travelled} AND number = 1`),
    ],
    ['an entry deleted', ['provenance'], run(`DELETE FROM nft_events WHERE ${travelled} AND number = 1`)],
    ['the mint deleted', ['provenance'], run(`DELETE FROM nft_events WHERE ${travelled} AND number = 0`)],
    ['the last entry deleted', ['provenance'], run(`DELETE FROM nft_events WHERE ${travelled} AND number = 3`)],
    [
      'the last entry rewritten to another owner, hashed anew, with the instance',
      ['provenance'],
      runAll(
        `UPDATE nft_events SET to_account_id = 'alice-one', txn_id = (SELECT txn_id FROM nft_events WHERE ${travelled} AND number = 1),
                payload = replace(payload, '"to":"bob-one"', '"to":"alice-one"') WHERE ${travelled} AND number = 3`,
        `UPDATE nft_events SET event_hash = ${HASH} WHERE ${travelled} AND number = 3`,
        `UPDATE actors SET owner = 'alice-one', document = replace(document, '"owner":"bob-one"', '"owner":"alice-one"')
          WHERE ${instance}`,
      ),
    ],
    [
      'an entry under a transaction of another NFT, hashed anew to the end',
      ['provenance'],
      async (copy) => {
        await run(`UPDATE nft_events SET txn_id = other.txn_id, payload = replace(payload, nft_events.txn_id, other.txn_id)
          FROM (SELECT txn_id FROM transactions WHERE type = 'burn' AND token_id LIKE '%/burned') other
         WHERE ${travelled} AND number = 3`)(copy)
        await run(`UPDATE nft_events SET event_hash = ${HASH} WHERE ${travelled} AND number = 3`)(copy)
        await run(`UPDATE actors SET document = regexp_replace(document, '"tip":"[^"]*"',
          '"tip":"' || (SELECT encode(event_hash, 'hex') FROM nft_events WHERE ${travelled} AND number = 3) || '"')
         WHERE ${instance}`)(copy)
      },
    ],
    [
      'another owner in the document',
      ['provenance'],
      run(`UPDATE actors SET document = replace(document, '"owner":"bob-one"', '"owner":"mallory"') WHERE ${instance}`),
    ],
    ['another owner beside the document', ['provenance'], run(`UPDATE actors SET owner = 'mallory' WHERE ${instance}`)],
    [
      'another issuer',
      ['provenance'],
      run(
        `UPDATE actors SET document = replace(document, '"issuer":"alice-one"', '"issuer":"mallory"') WHERE ${instance}`,
      ),
    ],
    [
      'another issuer of the class',
      ['provenance'],
      run(
        `UPDATE actors SET document = replace(document, '"issuer":"alice-one"', '"issuer":"mallory"') WHERE kind = 'class'`,
      ),
    ],
    ['the class deleted', ['provenance'], run("DELETE FROM actors WHERE kind = 'class'")],
    ['an NFT deleted', ['provenance'], run(`DELETE FROM actors WHERE ${instance}`)],
    [
      'a burned NFT brought back',
      ['provenance'],
      run(`UPDATE actors SET status = 'active', owner = 'bob-one', document = replace(document, '"burned"', '"active"')
            WHERE kind = 'instance' AND actor_id LIKE '%/burned'`),
    ],
    ['a document that is none', ['provenance'], run(`UPDATE actors SET document = '{' WHERE ${instance}`)],
    [
      'the receipt of a transfer',
      ['receipts_verify', 'provenance'],
      run(`UPDATE transactions SET receipt_signature = '' WHERE type = 'transfer' AND token_id LIKE '%/travelled'
             AND account_id = 'alice-one' AND group_id IS NOT NULL AND payload NOT LIKE '%terms_hash%'`),
    ],
    [
      'the transaction of a mint deleted',
      ['chains_verify', 'provenance'],
      run("DELETE FROM transactions WHERE type = 'mint' AND token_id LIKE '%/travelled'"),
    ],
  ]
  test.for(cases)('I9: %s is found', expectFound)

  test('I9: what nobody has been at is whose it was', async () => {
    await tampered.onCopy(async ({ sql }) => {
      const rows = await sql`SELECT actor_id, owner, status FROM actors WHERE kind = 'instance' ORDER BY actor_id`
      expect(rows.map((row): unknown => ({ ...row }))).toEqual([
        { actor_id: tampered.told.burned, owner: null, status: 'burned' },
        { actor_id: tampered.told.kept, owner: 'alice-one', status: 'active' },
        { actor_id: tampered.told.travelled, owner: 'bob-one', status: 'active' },
      ])
    })
  })
})
