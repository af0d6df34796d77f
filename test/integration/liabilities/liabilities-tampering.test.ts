/** A run refuses balances that do not reconcile (S2) and changed rows (S4). Earlier proofs stay valid. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { accountAddress } from '../../../actors/address.ts'
import { AssertionUnavailable } from '../../../runtime/ports/assertion-source.ts'
import { createLiabilitiesLedger, type LiabilitiesLedger, provenBy } from './liabilities-ledger.ts'

const UNRECONCILED = 'error liabilities_do_not_reconcile'
const UNREADABLE = 'error liabilities_row_unreadable'

type Tampering = readonly [what: string, tamper: (ledger: LiabilitiesLedger) => Promise<unknown>]

let ledger: LiabilitiesLedger
async function createFilled(): Promise<void> {
  ledger = await createLiabilitiesLedger()
  await ledger.balance('alice', 'BASE', '10')
  await ledger.balance('bob', 'GOLD', '30')
  await ledger.hold('bob', 'GOLD', '7')
  await ledger.message(accountAddress('carol'), ['GOLD', '3'])
  await ledger.message(accountAddress('carol'), ['GOLD', '1'])
  await ledger.token('GOLD', '41')
  await ledger.token('SILVER', '0')
  await ledger.boundary('BASE', '4')
  await ledger.boundary('BASE', '6')
}
afterEach(() => ledger.close())

/** The result of a run after the tampering, its log line, and the proofs of the previous run. */
async function outcomeOf(tamper: Tampering[1]): Promise<object> {
  const source = ledger.open()
  await source.liabilities()
  await tamper(ledger)
  const given = await source.liabilities().catch((error: unknown) => error)
  const runs = await ledger.sql`SELECT FROM liability_runs`
  return {
    isRefused: given instanceof AssertionUnavailable,
    logged: ledger.logged,
    runs: runs.length,
    proven: await provenBy(source, 'bob'),
  }
}

function refused(said: string): object {
  return { isRefused: true, logged: [said], runs: 1, proven: { GOLD: '37' } }
}

/** Runs statements in which `$alice` stands for the reference of Alice. */
function run(statements: string): Tampering[1] {
  return ({ sql, vault }) =>
    sql.unsafe(statements.replace(/\$([a-z]+)/g, (_, name: string) => `'${vault.accountRef(name)}'`))
}

const WITH_KEYS: readonly Tampering[] = [
  ['a raised balance', ({ balance }) => balance('alice', 'BASE', '10.000000000000000001')],
  [
    'value moved into another token',
    async ({ balance }) => {
      await balance('bob', 'GOLD', '0')
      await balance('bob', 'BASE', '30')
    },
  ],
  ['a deleted hold', ({ release }) => release('bob')],
  ['a raised supply', ({ token }) => token('GOLD', '42')],
  ['a lowered total of external accounts', ({ boundary }) => boundary('BASE', '0', '1')],
  ['a message that takes from an unknown account', ({ message }) => message(accountAddress('nobody'), ['GOLD', '-1'])],
  [
    'a negative liability that another account balances',
    async ({ message, balance }) => {
      await message(accountAddress('nobody'), ['GOLD', '-1'])
      await balance('bob', 'GOLD', '31')
    },
  ],
]

describe('a run refuses a change by an attacker with the keys', () => {
  beforeEach(createFilled)
  test.for(WITH_KEYS)('S2: %s', async ([, tamper]) => {
    expect(await outcomeOf(tamper)).toEqual(refused(UNRECONCILED))
  })
})

describe('a run refuses a change of whole rows by an attacker without keys', () => {
  beforeEach(createFilled)
  const TAMPERINGS: readonly Tampering[] = [
    [
      'an account deleted with all its rows',
      run(`DELETE FROM accounts WHERE account_id = $bob; DELETE FROM balances WHERE account_id = $bob;
           DELETE FROM holds WHERE account_id = $bob`),
    ],
    [
      'an account restored with all its rows',
      async (tampered) => {
        await run(`CREATE TABLE a AS SELECT * FROM accounts WHERE account_id = $alice;
                   CREATE TABLE b AS SELECT * FROM balances WHERE account_id = $alice`)(tampered)
        await tampered.balances([['alice', 'BASE', '11']], { tokenId: 'BASE', credited: '1', debited: '0' })
        await run(`DELETE FROM accounts WHERE account_id = $alice; DELETE FROM balances WHERE account_id = $alice;
                   INSERT INTO accounts SELECT * FROM a; INSERT INTO balances SELECT * FROM b`)(tampered)
      },
    ],
    ['a deleted message', run('DELETE FROM outbox WHERE number = 1')],
    ['a message marked as processed', run('INSERT INTO inbox_marks (shard_id, source_shard, mark) VALUES (5, 3, 1)')],
    ['a deleted token', run(`DELETE FROM actors WHERE actor_id = 'gold'`)],
    [
      'a deleted row of an external account',
      run('DELETE FROM boundary_crossings WHERE number = (SELECT max(number) FROM boundary_crossings)'),
    ],
    ['a row of an external account marked as fenced', run(`UPDATE boundary_crossings SET shards = '{}'`)],
  ]
  test.for(TAMPERINGS)('S2: %s', async ([, tamper]) => {
    expect(await outcomeOf(tamper)).toEqual(refused(UNRECONCILED))
  })
})

describe('a run refuses a change of some of the related rows by an attacker without keys', () => {
  beforeEach(createFilled)
  const TAMPERINGS: readonly Tampering[] = [
    ['a deleted balance', run('DELETE FROM balances WHERE account_id = $bob')],
    ['a deleted hold', run('DELETE FROM holds')],
    ['an account deleted without its balances', run('DELETE FROM accounts WHERE account_id = $alice')],
    [
      'a restored balance',
      async (tampered) => {
        await run('CREATE TABLE b AS SELECT * FROM balances WHERE account_id = $alice')(tampered)
        await tampered.balance('alice', 'BASE', '9')
        await run('UPDATE balances SET document = b.document FROM b WHERE balances.account_id = b.account_id')(tampered)
      },
    ],
    [
      'an account restored without its balances',
      async (tampered) => {
        await run('CREATE TABLE a AS SELECT * FROM accounts WHERE account_id = $alice')(tampered)
        await tampered.balance('alice', 'BASE', '9')
        await run('DELETE FROM accounts WHERE account_id = $alice; INSERT INTO accounts SELECT * FROM a')(tampered)
      },
    ],
    [
      'a balance replaced by that of another account',
      run(
        `UPDATE balances SET document = (SELECT document FROM balances WHERE account_id = $bob) WHERE account_id = $alice`,
      ),
    ],
    ['a balance in plain text', run(`UPDATE balances SET document = convert_to('["99","0","0","0",1]', 'UTF8')`)],
    [
      'a row of an external account replaced by another',
      run(`UPDATE boundary_crossings SET document = (SELECT document FROM boundary_crossings ORDER BY number LIMIT 1)`),
    ],
  ]
  test.for(TAMPERINGS)('S4: %s', async ([, tamper]) => {
    expect(await outcomeOf(tamper)).toEqual(refused(UNREADABLE))
  })
})
