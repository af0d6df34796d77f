/**
 * Goal: whoever changes a chain or a transaction behind the ledger's back is found, by the control that it belongs to, even
 * with all keys at hand; and a ledger that nobody has been at is sound. Each way to damage it is tried on a copy of its own.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Transaction } from '../../actors/account/transaction.ts'
import { type AuditEntry, chainHash } from '../../actors/audit-chain.ts'
import {
  all,
  type Case,
  createTampered,
  failedOf,
  foundBy,
  run,
  type Tamper,
  type Tampered,
  walkLedger,
} from '../support/tampering.ts'
import { createAuditedLedger, everythingOnce, Parties } from '../support/audited-ledger.ts'
import {
  changeAccount,
  changeBase,
  changeEntries,
  changeTransactions,
  type Stored,
} from '../support/tampering-with-keys.ts'

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

/** Of alice, by her reference, in SQL that is run on a copy. */
function onAlices(statement: (alices: string) => string): Tamper {
  return (copy) => run(statement(`account_id = '${tampered.refOf('alice-one')}'`))(copy)
}

const LAST = '(SELECT sequence FROM accounts WHERE '

/** Entries of alice's chain. */
function onEntries(change: (entry: AuditEntry) => AuditEntry | undefined): Tamper {
  return changeEntries('alice-one', change)
}

/** The entry of the credit of 100.5, with another amount. */
function otherAmount(entry: AuditEntry): AuditEntry | undefined {
  const payload = entry.payload.replace('"amount":"100.5"', '"amount":"900.5"')
  return payload === entry.payload ? undefined : { ...entry, payload }
}

function resalted({ payload, ...entry }: AuditEntry): AuditEntry {
  return { ...entry, payload: payload.replace(/"salt":"[^"]*"/, '"salt":"77"') }
}

function hashedAnew(entry: AuditEntry): AuditEntry {
  return { ...entry, auditHash: chainHash(entry.previousHash, entry.payload) }
}

const OTHER_HASH = '77'.repeat(32)

/** The last entry, salted anew, where its account and its transaction say the same of it. */
const lastRewritten: Tamper = async (copy) => {
  let last: AuditEntry | undefined
  await onEntries((entry) => {
    last = entry
    return entry.sequence === 0 ? entry : undefined
  })(copy)
  const rewritten = last === undefined ? undefined : hashedAnew(resalted(last))
  if (rewritten === undefined) throw new Error('alice has a chain')
  const { auditHash } = rewritten
  await onEntries(({ sequence }) => (sequence === rewritten.sequence ? rewritten : undefined))(copy)
  await changeAccount('alice-one', (account) => ({ ...account, tip: auditHash }))(copy)
  await onTransactions(
    ({ txnId }) => txnId === rewritten.txnId,
    () => ({ auditHash }),
  )(copy)
}

test('a ledger that was made without encryption is audited like any other', async () => {
  const plain = await createAuditedLedger({ encryption: 'off' })
  await everythingOnce(new Parties(plain), 'one')
  const { url, ledgerId, vault } = plain
  expect(vault.encrypts).toBe(false)
  expect((await walkLedger(url, ledgerId, vault)).findings).toEqual([])
  await changeEntries('alice-one', otherAmount)(plain)
  await changeBase('bob-one', ({ balance }) => ({ balance: balance.plus(1) }))(plain)
  const { findings } = await walkLedger(url, ledgerId, vault)
  expect(findings.map(({ subject, place }) => `${subject}: ${place}`).sort()).toEqual([
    `chains_verify: account ${vault.accountRef('alice-one')}, entry 2`,
    expect.stringMatching(/^chains_verify: transaction txn_/),
    `no_negative_balance: account ${vault.accountRef('bob-one')}, BASE`,
    'value_is_conserved: asset BASE',
  ])
  await plain.close()
})

describe('chains', () => {
  const cases: readonly Case[] = [
    ['another amount in the payload of an entry', ['chains_verify'], onEntries(otherAmount)],
    [
      'another hash of an entry',
      ['chains_verify'],
      onEntries((entry) => (entry.sequence === 2 ? { ...entry, auditHash: OTHER_HASH } : undefined)),
    ],
    [
      'an entry rewritten and hashed anew',
      ['chains_verify'],
      onEntries((entry) => {
        const other = otherAmount(entry)
        return other && hashedAnew(other)
      }),
    ],
    ['the last entry rewritten, with the tip and the hash of its transaction', ['receipts_verify'], lastRewritten],
    [
      'the registration rewritten and hashed anew',
      ['chains_verify'],
      onEntries((entry) => (entry.sequence === 0 ? hashedAnew(resalted(entry)) : undefined)),
    ],
    [
      'an entry deleted',
      ['chains_verify'],
      onAlices((alices) => `DELETE FROM audit_entries WHERE ${alices} AND sequence = 3`),
    ],
    [
      'the registration deleted',
      ['chains_verify'],
      onAlices((alices) => `DELETE FROM audit_entries WHERE ${alices} AND sequence = 0`),
    ],
    [
      'the last entry deleted',
      ['chains_verify'],
      onAlices((alices) => `DELETE FROM audit_entries WHERE ${alices} AND sequence = ${LAST}${alices})`),
    ],
    [
      'the last entry deleted, and the account put back before it',
      ['chains_verify', 'no_negative_balance'],
      async (copy) => {
        let tip = ''
        await onEntries((entry) => {
          tip = entry.previousHash
          return entry.sequence === 0 ? entry : undefined
        })(copy)
        await onAlices((alices) => `DELETE FROM audit_entries WHERE ${alices} AND sequence = ${LAST}${alices})`)(copy)
        await changeAccount('alice-one', (account) => ({ ...account, sequence: account.sequence - 1, tip }))(copy)
      },
    ],
    [
      'an entry that its account does not know of',
      ['chains_verify'],
      onAlices(
        (alices) => `
          INSERT INTO audit_entries (shard_id, account_id, sequence, txn_id, previous_hash, audit_hash, payload)
          SELECT shard_id, account_id, sequence + 1, NULL, tip, sha256('x'), '{}' FROM accounts WHERE ${alices}`,
      ),
    ],
    [
      'another transaction named',
      ['chains_verify'],
      onAlices((alices) => `UPDATE audit_entries SET txn_id = 'txn_x' WHERE ${alices} AND sequence = 2`),
    ],
    ['another tip', ['chains_verify'], changeAccount('alice-one', (account) => ({ ...account, tip: OTHER_HASH }))],
    [
      'another key',
      ['chains_verify'],
      changeAccount('alice-one', (account) => ({ ...account, key: { keyId: 'mine', publicKey: 'mine' } })),
    ],
    ['another status', ['chains_verify'], changeAccount('alice-one', (account) => ({ ...account, status: 'frozen' }))],
    [
      'another policy for what comes in',
      ['chains_verify'],
      changeAccount('alice-one', (account) => ({ ...account, incoming: 'refuse' })),
    ],
    [
      'a payload that is no JSON',
      ['chains_verify'],
      onEntries((entry) => (entry.sequence === 1 ? { ...entry, payload: '{' } : undefined)),
    ],
    [
      'an account deleted',
      ['chains_verify'],
      (copy) => run(`DELETE FROM accounts WHERE account_id = '${tampered.refOf('bob-one')}'`)(copy),
    ],
  ]
  test.for(cases)('I6: %s is found', expectFound)
})

/** Transactions of any account, and what becomes of them. */
function onTransactions(
  isMeant: (transaction: Transaction) => boolean,
  change: (transaction: Transaction) => Partial<Transaction>,
): Tamper {
  return changeTransactions(({ transaction, receipt }) =>
    isMeant(transaction) ? { transaction: { ...transaction, ...change(transaction) }, receipt } : undefined,
  )
}

function onReceipts(change: (stored: Stored) => Stored['receipt']): Tamper {
  return changeTransactions((stored) =>
    isCredit(stored.transaction) ? { ...stored, receipt: change(stored) } : undefined,
  )
}

function isCredit({ accountId, type, amount }: Transaction): boolean {
  return accountId === 'alice-one' && type === 'credit' && amount === '100.5'
}

function isFailedDebit({ status, type }: Transaction): boolean {
  return status === 'failed' && type === 'debit'
}

const NOT_ENTERED: Partial<Transaction> = { sequence: null, previousHash: null, auditHash: null }

describe('transactions', () => {
  const cases: readonly Case[] = [
    ['another amount', ['chains_verify', 'receipts_verify'], onTransactions(isCredit, () => ({ amount: '900.5' }))],
    [
      'another amount to be searched by than was signed',
      ['chains_verify'],
      run("UPDATE transactions SET amount_bucket = amount_bucket + 1 WHERE type = 'credit'"),
    ],
    [
      'another receiver',
      ['chains_verify', 'receipts_verify'],
      onTransactions(
        ({ accountId, type, amount }) => accountId === 'alice-one' && type === 'transfer' && amount === '10',
        () => ({ toAccountId: 'mallory' }),
      ),
    ],
    [
      'other metadata',
      ['chains_verify', 'receipts_verify'],
      onTransactions(isCredit, () => ({ metadata: { a: 'e' } })),
    ],
    [
      'another payload than was submitted',
      ['chains_verify'],
      onTransactions(isCredit, ({ payload }) => ({ payload: payload.replace('"100.5"', '"900.5"') })),
    ],
    [
      'the signature of another receipt',
      ['receipts_verify'],
      async (copy) => {
        let other = ''
        await changeTransactions((stored) => {
          if (isFailedDebit(stored.transaction)) other = stored.receipt?.signature ?? ''
          return isCredit(stored.transaction) ? stored : undefined
        })(copy)
        await onReceipts(({ receipt }) => receipt && { ...receipt, signature: other })(copy)
      },
    ],
    [
      'a receipt that is none',
      ['receipts_verify'],
      onReceipts(({ receipt }) => receipt && { ...receipt, signature: '!' }),
    ],
    [
      'a receipt under a key that is none of the service',
      ['receipts_verify'],
      onReceipts(({ receipt }) => receipt && { ...receipt, keyId: 'mine' }),
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
      onTransactions(isFailedDebit, () => ({ failure: { code: 'expired', detail: '' } })),
    ],
    [
      'one that failed made out as completed',
      ['chains_verify', 'receipts_verify'],
      onTransactions(isFailedDebit, () => ({ status: 'completed', failure: null })),
    ],
    [
      'one that is completed made out as failed',
      ['chains_verify', 'receipts_verify'],
      onTransactions(isCredit, () => ({
        ...NOT_ENTERED,
        status: 'failed',
        failure: { code: 'expired', detail: '' },
      })),
    ],
    [
      'one that is completed deleted',
      ['chains_verify'],
      async (copy) => {
        let txnId = ''
        await changeTransactions((stored) => {
          if (!isCredit(stored.transaction)) return undefined
          txnId = stored.transaction.txnId
          return stored
        })(copy)
        await run(`DELETE FROM transactions WHERE txn_id = '${txnId}'`)(copy)
      },
    ],
    [
      'a type that there is not',
      ['chains_verify', 'receipts_verify'],
      onTransactions(isCredit, () => ({ type: 'gift' as Transaction['type'] })),
    ],
  ]
  test.for(cases)('I7: %s is found', expectFound)

  test('a row that was opened and sealed again as it was is as good as before', async () => {
    const nothing: Tamper = all(
      changeAccount('alice-one', (account) => account),
      onEntries((entry) => entry),
      changeTransactions((stored) => stored),
    )
    expect(await foundBy(tampered, nothing)).toEqual([])
  })
})
