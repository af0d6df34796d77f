/**
 * An attacker with full access to the database has no keys, and changes, restores, swaps or deletes rows. An audit names
 * each damaged row, and no such row aborts it.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTampered, type Tamper, type Tampered } from '../../support/postgres/tampering.ts'
import { withoutKeys } from '../../support/postgres/tampering-without-keys.ts'

let tampered: Tampered

/** Tables whose older rows the attacker keeps. */
const KEPT = ['accounts', 'balances', 'actors', 'nft_events'] as const
/** Tables whose rows the attacker keeps from before groups and transactions ended. */
const UNENDED = ['actors', 'pending_transactions'] as const

beforeAll(async () => {
  tampered = await createTampered(async ({ sql }, parties, { alice, bob, classId }) => {
    const offer = async (amount: string, lastsMs = 3_600_000): Promise<void> => {
      const [type, receive] = ['exchange', { amount: '1', token_id: 'silver-one' }]
      const expires = new Date(Date.now() + lastsMs).toISOString()
      const terms = { type, receive, group_id: randomUUID(), to_account_id: bob.accountId, expires_at: expires }
      await parties.submit(alice, { ...terms, amount, token_id: 'GOLD-one' })
    }
    const [a, b] = [alice.accountId, bob.accountId]
    const legs = [
      { account_id: a, type: 'transfer', amount: '1', token_id: 'BASE', to_account_id: b },
      { account_id: b, type: 'transfer', amount: '1', token_id: 'BASE', to_account_id: a },
    ]
    const agreed = await parties.agree(legs)
    // A slow machine needs this time to copy the offer before it expires.
    await offer('3', 8_000)
    await sql`CREATE SCHEMA unended`
    for (const table of UNENDED) await sql.unsafe(`CREATE TABLE unended.${table} AS SELECT * FROM ${table}`)
    for (const { account_id: accountId, ...leg } of legs)
      await parties.submit(accountId === a ? alice : bob, { ...leg, ...agreed })
    await parties.atRest()
    // These offers stay pending, so that there are holds.
    await offer('1')
    await offer('2')
    // No leg of this group is submitted.
    await parties.agree(legs)
    await parties.delivered()
    await sql`CREATE SCHEMA older`
    for (const table of KEPT) await sql.unsafe(`CREATE TABLE older.${table} AS SELECT * FROM ${table}`)
    await parties.submit(alice, { type: 'credit', amount: '1' })
    await parties.submit(alice, { type: 'burn', amount: '1', token_id: 'GOLD-one' })
    const kept = { class_id: classId, instance_id: 'kept', amount: '1' }
    await parties.submit(alice, { ...kept, type: 'transfer', to_account_id: bob.accountId })
    await parties.delivered()
  })
})
afterAll(() => tampered?.close())

const { found, namesOf, sql, flipped } = withoutKeys(() => tampered)

/** The damage, and all expected findings. */
type Case = readonly [what: string, tamper: Tamper, named: readonly string[]]

async function expectFound([, tamper, named]: Case): Promise<void> {
  expect(namesOf(await found(tamper))).toEqual([...named].sort())
}

test('an undamaged ledger with pending transactions has no findings', async () => {
  expect(await found(() => Promise.resolve())).toEqual([])
})

/** The only credit that Bob ordered. */
const CREDIT =
  "type = 'credit' AND status = 'completed' AND origin = 'client' AND group_id IS NULL AND account_id = BOB"
/** A burn, which ended later than it was entered. */
const BURN = "type = 'burn' AND token_id = 'GOLD-one' AND group_id IS NULL AND account_id = ALICE"
const FIRST_PENDING = 'txn_id = (SELECT min(txn_id) FROM pending_transactions)'
const FIRST_CROSSING = `(session, number) = (
  SELECT session, number FROM boundary_crossings ORDER BY session, number LIMIT 1)`
const GOLD_LOST = [
  'supply_reconciles: token gold-one',
  'value_is_conserved: asset GOLD-one',
  'value_is_conserved: token gold-one',
]
const BASE_LOST = [
  'no_negative_balance: account bob, BASE',
  'value_is_conserved: account bob, BASE',
  'value_is_conserved: asset BASE',
]
const HOLD_LOST = ['no_negative_balance: account alice, hold txn', 'no_negative_balance: account alice, holds']
const PENDING_LOST = ['chains_verify: transaction txn', ...HOLD_LOST]
const LEG_LOST = [
  'no_negative_balance: account alice, hold leg',
  'no_negative_balance: account alice, holds',
  'value_is_conserved: account alice, hold leg',
]
const CLASS_LOST = ['burned', 'kept', 'travelled'].flatMap((nft) => [
  `provenance: NFT class/${nft}`,
  `provenance: NFT class/${nft}, entry 0`,
])

describe('a flipped bit', () => {
  const cases: readonly Case[] = [
    [
      'in a transaction',
      flipped('transactions', 'document', CREDIT),
      ['chains_verify: account bob, entry 1', 'chains_verify: transaction txn', 'receipts_verify: transaction txn'],
    ],
    [
      'in a transaction that was pending',
      flipped('transactions', 'document', BURN),
      [
        'chains_verify: account alice, entry 30',
        'chains_verify: account alice, entry 6',
        'chains_verify: transaction txn',
        'receipts_verify: transaction txn',
        'supply_reconciles: token gold-one',
        'supply_reconciles: transaction txn',
      ],
    ],
    ['in a transaction that is still pending', flipped('pending_transactions', 'document', 'true'), PENDING_LOST],
    [
      'in the hold of a transaction that is still pending',
      flipped('pending_transactions', 'hold', FIRST_PENDING),
      HOLD_LOST,
    ],
    ['in a class', flipped('actors', 'document', "kind = 'class'"), ['provenance: class class', ...CLASS_LOST]],
    [
      'in a group',
      flipped('actors', 'document', "kind = 'group' AND status = 'reverted'"),
      ['value_is_conserved: group'],
    ],
    [
      'in the history of an NFT',
      flipped('nft_events', 'payload', 'nft_id = TRAVELLED AND number = 1'),
      ['provenance: NFT class/travelled, entry 1'],
    ],
    [
      'in a transfer of value by an external account',
      flipped('boundary_crossings', 'document', FIRST_CROSSING),
      ['value_is_conserved: asset BASE', 'value_is_conserved: boundary crossing'],
    ],
    [
      'in a message that is not delivered yet',
      async (copy) => {
        await sql(`DELETE FROM inbox_marks
                    WHERE (shard_id, source_shard) = (SELECT shard_id, source_shard FROM inbox_marks LIMIT 1)`)(copy)
        await flipped(
          'outbox',
          'message',
          `NOT EXISTS (
          SELECT FROM inbox_marks m WHERE m.source_shard = outbox.shard_id AND m.shard_id = outbox.target_shard)`,
        )(copy)
      },
      ['supply_reconciles: message', 'value_is_conserved: message'],
    ],
  ]
  test.for(cases)('%s is found', expectFound)
})

describe('a changed column', () => {
  const cases: readonly Case[] = [
    [
      'of a balance',
      sql("UPDATE balances SET updated_at = 'epoch' WHERE account_id = BOB AND token_id = 'BASE'"),
      ['no_negative_balance: account bob, BASE'],
    ],
    [
      'of a transaction that is pending',
      sql(`UPDATE pending_transactions SET type = 'transfer' WHERE ${FIRST_PENDING}`),
      PENDING_LOST,
    ],
    [
      'of a hold',
      sql("UPDATE holds SET hold_id = hold_id || 'x' WHERE account_id = ALICE"),
      [...LEG_LOST, 'value_is_conserved: group'],
    ],
    [
      'of a pending transaction that says that it is no hold',
      sql(`UPDATE pending_transactions SET is_hold = false WHERE ${FIRST_PENDING}`),
      ['no_negative_balance: account alice', 'no_negative_balance: account alice, GOLD-one'],
    ],
    [
      'of a transaction',
      sql(`UPDATE transactions SET idempotency_key = 'x' WHERE ${CREDIT}`),
      ['chains_verify: account bob, entry 1', 'chains_verify: transaction txn', 'receipts_verify: transaction txn'],
    ],
    ['of a token', sql("UPDATE actors SET status = 'crediting' WHERE actor_id = 'gold-one'"), GOLD_LOST],
    [
      'of a class',
      sql("UPDATE actors SET class_name = 'Another' WHERE kind = 'class'"),
      ['provenance: class class', ...CLASS_LOST],
    ],
    [
      'of a group',
      sql("UPDATE actors SET due_at = now() WHERE kind = 'group' AND status = 'reverted'"),
      ['value_is_conserved: group'],
    ],
    [
      'of a transfer of value by an external account',
      sql(`UPDATE boundary_crossings SET shards = '{}' WHERE ${FIRST_CROSSING}`),
      ['value_is_conserved: asset BASE'],
    ],
  ]
  test.for(cases)('%s is found', expectFound)
})

describe('a restored old row:', () => {
  const back = (table: string, columns: readonly string[], where: string): Tamper =>
    sql(`UPDATE ${table} n SET ${columns.map((column) => `${column} = o.${column}`).join(', ')} FROM older.${table} o
          WHERE ${where} AND (o.*) IS DISTINCT FROM (n.*)`)
  const account = [
    'version',
    'sequence',
    'tip',
    'completed_count',
    'failed_count',
    'nft_count',
    'nft_room',
    'updated_at',
    'last_time',
    'lasting_version',
    'lasting',
    'digest',
  ]
  const ofAlice = 'o.account_id = n.account_id AND o.account_id = ALICE'
  const ofBase = `${ofAlice} AND o.token_id = n.token_id AND o.token_id = 'BASE'`
  const gold = "o.actor_id = n.actor_id AND n.actor_id = 'gold-one'"
  const kept = 'o.actor_id = n.actor_id AND n.actor_id = KEPT'
  const cases: readonly Case[] = [
    ['only the sealed columns of an account', back('accounts', ['digest'], ofAlice), ['chains_verify: account alice']],
    [
      'an account with its version',
      back('accounts', account, ofAlice),
      ['chains_verify: account alice', 'no_negative_balance: account alice'],
    ],
    [
      'an account with its balances',
      async (copy) => {
        await back('accounts', account, ofAlice)(copy)
        await back('balances', ['updated_at', 'document'], `${ofAlice} AND o.token_id = n.token_id`)(copy)
      },
      ['chains_verify: account alice', 'value_is_conserved: asset BASE', 'value_is_conserved: asset GOLD-one'],
    ],
    [
      'only the sealed column of a balance',
      back('balances', ['document'], ofBase),
      ['no_negative_balance: account alice, BASE', 'value_is_conserved: asset BASE'],
    ],
    [
      'a whole balance',
      back('balances', ['updated_at', 'document'], ofBase),
      [
        'no_negative_balance: account alice',
        'no_negative_balance: account alice, BASE',
        'value_is_conserved: asset BASE',
      ],
    ],
    ['only the sealed column of a token', back('actors', ['document'], gold), GOLD_LOST],
    [
      'a token with its version',
      back('actors', ['document', 'version'], gold),
      ['supply_reconciles: token gold-one', 'value_is_conserved: asset GOLD-one'],
    ],
    ['only the sealed column of an NFT', back('actors', ['document'], kept), ['provenance: NFT class/kept']],
    [
      'an NFT with its version',
      back('actors', ['document', 'version', 'owner', 'status'], kept),
      ['provenance: NFT class/kept'],
    ],
    [
      'a settled group that was open',
      sql(`UPDATE actors n SET document = o.document, version = o.version, status = o.status, due_at = o.due_at
             FROM unended.actors o
            WHERE o.kind = n.kind AND o.actor_id = n.actor_id AND o.status = 'open' AND n.status = 'settled'`),
      ['value_is_conserved: group'],
    ],
    [
      'a failed transaction that was pending',
      sql(
        `DELETE FROM transactions n USING unended.pending_transactions o
          WHERE o.txn_id = n.txn_id AND n.status = 'failed'`,
        `INSERT INTO pending_transactions SELECT * FROM unended.pending_transactions o
          WHERE NOT EXISTS (SELECT FROM transactions n WHERE n.txn_id = o.txn_id)
            AND NOT EXISTS (SELECT FROM pending_transactions n WHERE n.txn_id = o.txn_id)`,
      ),
      ['no_negative_balance: account alice', 'no_negative_balance: account alice, GOLD-one'],
    ],
    [
      'a failed transaction that was pending, beside its current row',
      sql(`INSERT INTO pending_transactions SELECT o.* FROM unended.pending_transactions o JOIN transactions n USING (txn_id)
            WHERE n.status = 'failed'`),
      [
        'chains_verify: transaction txn',
        'no_negative_balance: account alice',
        'no_negative_balance: account alice, GOLD-one',
      ],
    ],
  ]
  test.for(cases)('%s is found', expectFound)
})

describe('swapped columns of', () => {
  const swapped = (table: string, column: string, where: string): Tamper =>
    sql(`UPDATE ${table} t SET ${column} = o.${column} FROM (SELECT ctid AS at, ${column} FROM ${table} WHERE ${where}) o
          WHERE ${where} AND o.at <> t.ctid`)
  const cases: readonly Case[] = [
    [
      'two accounts',
      swapped('accounts', 'lasting', 'account_id IN (ALICE, BOB)'),
      ['chains_verify: account alice', 'chains_verify: account bob'],
    ],
    [
      'two balances of an account',
      swapped('balances', 'document', "account_id = ALICE AND token_id IN ('BASE', 'GOLD-one')"),
      ['BASE', 'GOLD-one'].flatMap((tokenId) => [
        `no_negative_balance: account alice, ${tokenId}`,
        `value_is_conserved: account alice, ${tokenId}`,
        `value_is_conserved: asset ${tokenId}`,
      ]),
    ],
    [
      'two balances of a token',
      swapped('balances', 'document', "account_id IN (ALICE, BOB) AND token_id = 'BASE'"),
      [...BASE_LOST, 'no_negative_balance: account alice, BASE', 'value_is_conserved: account alice, BASE'],
    ],
    ['two holds', swapped('holds', 'document', 'account_id = ALICE'), LEG_LOST],
    ['two holds of transactions that are pending', swapped('pending_transactions', 'hold', 'true'), HOLD_LOST],
    ['two transactions that are pending', swapped('pending_transactions', 'document', 'true'), PENDING_LOST],
    [
      'two entries',
      swapped('transactions', 'document', 'account_id = ALICE AND sequence IN (1, 2)'),
      [
        'chains_verify: account alice, entry 1',
        'chains_verify: account alice, entry 2',
        'chains_verify: transaction txn',
        'receipts_verify: transaction txn',
        'supply_reconciles: token gold-one',
        'supply_reconciles: transaction txn',
      ],
    ],
    [
      'two entries of no transaction',
      swapped('audit_entries', 'payload', 'account_id IN (ALICE, BOB) AND sequence = 0'),
      ['chains_verify: account alice, entry 0', 'chains_verify: account bob, entry 0'],
    ],
  ]
  test.for(cases)('%s are found', expectFound)
})

describe('the deletion of', () => {
  const cases: readonly Case[] = [
    [
      'an account',
      sql('DELETE FROM accounts WHERE account_id = BOB'),
      ['chains_verify: account bob', 'chains_verify: transaction txn'],
    ],
    [
      'a balance',
      sql("DELETE FROM balances WHERE account_id = BOB AND token_id = 'BASE'"),
      ['no_negative_balance: account bob', 'no_negative_balance: account bob, BASE', 'value_is_conserved: asset BASE'],
    ],
    [
      'a hold',
      sql(
        'DELETE FROM holds WHERE account_id = ALICE AND hold_id = (SELECT min(hold_id) FROM holds WHERE account_id = ALICE)',
      ),
      ['no_negative_balance: account alice', 'value_is_conserved: group'],
    ],
    [
      'a transaction that is pending',
      sql(`DELETE FROM pending_transactions WHERE ${FIRST_PENDING}`),
      ['no_negative_balance: account alice', 'no_negative_balance: account alice, GOLD-one'],
    ],
    [
      'an entry of no transaction',
      sql('DELETE FROM audit_entries WHERE account_id = BOB AND sequence = 0'),
      ['chains_verify: account bob, entry 0'],
    ],
    ['a transaction', sql(`DELETE FROM transactions WHERE ${CREDIT}`), ['chains_verify: account bob, entry 1']],
    [
      'a transfer of value by an external account',
      sql(`DELETE FROM boundary_crossings WHERE ${FIRST_CROSSING}`),
      ['value_is_conserved: asset BASE'],
    ],
  ]
  test.for(cases)('%s is found', expectFound)
})

describe('a data key', () => {
  /** Expects findings about the key, and others about rows that it sealed. */
  async function expectKeyFound([, tamper, named]: Case): Promise<void> {
    const names = namesOf(await found(tamper))
    expect(names.filter((name) => name.includes('data key'))).toEqual(named)
    expect(names.length).toBeGreaterThan(named.length)
  }
  const [ofBob, ofClass] = ['chains_verify: data key of account bob', 'provenance: data key of class class']
  const ofLedger = 'value_is_conserved: data key of the ledger'
  const goldsShard = "scope = 'shard' AND ref = (SELECT shard_id::text FROM actors WHERE actor_id = 'gold-one')"
  const cases: readonly Case[] = [
    ['of an account that was deleted', sql('DELETE FROM data_keys WHERE ref = BOB'), [ofBob]],
    ['of a class that was deleted', sql("DELETE FROM data_keys WHERE scope = 'class'"), [ofClass]],
    ['of the ledger that was deleted', sql("DELETE FROM data_keys WHERE scope = 'ledger'"), [ofLedger]],
    [
      'of an account that was replaced by the key of another account',
      sql(`UPDATE data_keys SET wrapped = (SELECT wrapped FROM data_keys WHERE ref = ALICE) WHERE ref = BOB`),
      [ofBob],
    ],
  ]
  test.for(cases)('%s is found', expectKeyFound)

  test('of a shard that was deleted is found, with the token that it sealed', async () => {
    const names = namesOf(await found(sql(`DELETE FROM data_keys WHERE ${goldsShard}`)))
    expect(names).toEqual(
      expect.arrayContaining([expect.stringMatching(/^value_is_conserved: data key of shard \d+$/), ...GOLD_LOST]),
    )
  })
})
