/** An audit has no findings for an erased account, and finds changes of its remaining rows. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountAddress } from '../../../actors/address.ts'
import { vaultOf } from '../../support/postgres/ledger-database.ts'
import type { Parties, Party } from '../../support/audited-ledger.ts'
import { createTampered, type Tampered, walkLedger } from '../../support/postgres/tampering.ts'

let tampered: Tampered

beforeAll(async () => {
  tampered = await createTampered(async ({ node, sql }, parties) => {
    await sql`CREATE SCHEMA older`
    const gone = await parties.open('gone')
    await parties.submit(gone, { type: 'credit', amount: '3' })
    await parties.issue('FADED', 'gone', '5')
    await parties.submit(gone, { type: 'burn', amount: '5', token_id: 'FADED' })
    await giveAwayNft(parties, gone)
    await parties.submit(gone, { type: 'debit', amount: '3' })
    await parties.delivered()
    const ask = (operation: Parameters<typeof node.ask>[1]) => node.ask(accountAddress('gone'), operation)
    const closed = await ask({ kind: 'change_status', status: 'closed', incoming: null, reason: 'r' })
    if (closed.kind !== 'status_changed') throw new Error(JSON.stringify(closed))
    await sql`CREATE TABLE older.data_keys AS SELECT * FROM data_keys`
    await sql`CREATE TABLE older.balances AS SELECT * FROM balances`
    const erased = await ask({ kind: 'erase', reason: 'r' })
    if (erased.kind !== 'status_changed') throw new Error(JSON.stringify(erased))
    await parties.delivered()
  })
})
afterAll(() => tampered?.close())

async function giveAwayNft(parties: Parties, gone: Party): Promise<void> {
  const classId = await parties.registerClass('Faded things', gone)
  await parties.mint(gone, classId, 'given')
  const nft = { class_id: classId, instance_id: 'given', amount: '1' }
  await parties.submit(gone, { ...nft, type: 'transfer', to_account_id: 'bob-one' })
}

async function foundAfter(...statements: readonly string[]): Promise<readonly string[]> {
  return tampered.onCopy(async (copy) => {
    const ref = tampered.refOf('gone')
    for (const statement of statements) await copy.sql.unsafe(statement.replaceAll('GONE', `'${ref}'`))
    const { findings } = await walkLedger(copy.url, tampered.ledgerId, await vaultOf(copy.url))
    return findings.map(({ subject, place, problem }) => `${subject}: ${place.replaceAll(ref, 'gone')}: ${problem}`)
  })
}

test('an audit has no findings for an erased account, its token and its former NFT', async () => {
  expect(await foundAfter()).toEqual([])
})

test.for([
  [
    'a data key that was restored',
    'INSERT INTO data_keys SELECT * FROM older.data_keys WHERE ref = GONE',
    'chains_verify: data key of account gone: it was to be destroyed',
  ],
  [
    'a balance that was restored',
    'INSERT INTO balances SELECT * FROM older.balances WHERE account_id = GONE',
    'no_negative_balance: account gone: it was erased, and holds something',
  ],
  [
    'a changed link of the chain',
    "UPDATE transactions SET previous_hash = sha256('x') WHERE account_id = GONE AND sequence = 2",
    'chains_verify: account gone, entry 2: its previous_hash is not the hash of the entry before',
  ],
  [
    'a deleted entry',
    'DELETE FROM transactions WHERE account_id = GONE AND sequence = 2',
    'chains_verify: account gone, entry 2: it is missing',
  ],
  [
    'a changed status',
    "UPDATE accounts SET status = 'closed' WHERE account_id = GONE",
    'chains_verify: data key of account gone: it is not there',
  ],
  [
    'an account with only its status column set to erased',
    "UPDATE accounts SET status = 'erased' WHERE account_id <> GONE",
    'it does not open',
  ],
] as const)('an audit finds %s', async ([, statement, finding]) => {
  const findings = await foundAfter(statement)
  expect(findings.join('\n')).toContain(finding)
})
