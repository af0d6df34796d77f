/**
 * An attacker with all keys changes chains, transactions, value, supplies or owners in a copy of the database. The
 * control of the audit that covers each change finds it. Errors within one row: test/unit/actors/audit*.test.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Transaction } from '../../../actors/account/transaction.ts'
import { type AuditEntry, chainHash } from '../../../actors/audit-chain.ts'
import { formatQuantity, parseQuantity } from '../../../actors/money.ts'
import type { InstanceState, NftEvent } from '../../../actors/nft-instance/state.ts'
import type { TokenState } from '../../../actors/token/state.ts'
import {
  all,
  type Case,
  createTampered,
  failedOf,
  foundBy,
  run,
  type Tamper,
  type Tampered,
} from '../../support/postgres/tampering.ts'
import { chained } from '../../support/chain.ts'
import { vaultOf } from '../../support/postgres/ledger-database.ts'
import { SALT } from '../../support/postgres/ledger-rows.ts'
import {
  addCrossing,
  changeAccount,
  changeActors,
  changeBase,
  changeCrossings,
  changeEntries,
  changeEvents,
  changeTransactions,
} from '../../support/postgres/tampering-with-keys.ts'

let tampered: Tampered

beforeAll(async () => {
  // The last entry of a chain is a transaction, not the settlement of a leg.
  tampered = await createTampered(async (_, parties, { alice }) => {
    await parties.submit(alice, { type: 'credit', amount: '0.25' })
  })
})
afterAll(() => tampered?.close())

async function expectFound([, found, tamper]: Case): Promise<void> {
  expect(await foundBy(tampered, tamper)).toEqual(found)
}

test('an audit of an undamaged ledger checks every row and has no findings', async () => {
  await tampered.onCopy(async ({ url, sql }) => {
    const result = await tampered.audit(url)
    const [rows] = await sql`
      SELECT (SELECT count(*)::integer FROM chain_entries) AS chains_verify,
             (SELECT count(*)::integer FROM transactions) AS receipts_verify,
             (SELECT count(*)::integer FROM balances) AS no_negative_balance,
             (SELECT count(*)::integer FROM actors WHERE kind = 'token') AS supply_reconciles,
             (SELECT count(*)::integer FROM actors WHERE kind = 'instance') AS provenance`
    expect(failedOf(result)).toEqual([])
    // The base unit and two tokens, one of which has no supply.
    expect(result.checked).toEqual({ ...rows, value_is_conserved: 3 })
    // The ledger has transactions and groups of every kind.
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

/** Runs SQL with a condition on the rows of Alice. */
function onAlices(statement: (alices: string) => string): Tamper {
  return (copy) => run(statement(`account_id = '${tampered.refOf('alice-one')}'`))(copy)
}

const LAST = '(SELECT sequence FROM accounts WHERE '

function onEntries(change: (entry: AuditEntry) => AuditEntry | undefined): Tamper {
  return changeEntries('alice-one', change)
}

/** Changes the amount in the entry of the credit of 100.5. */
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

/** Changes the salt and hash of the last entry, which is that of a transaction, and the tip of the account. */
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
}

describe('chains', () => {
  const cases: readonly Case[] = [
    ['another amount in the payload of an entry', ['chains_verify', 'receipts_verify'], onEntries(otherAmount)],
    [
      'an entry rewritten and hashed anew',
      ['chains_verify', 'receipts_verify'],
      onEntries((entry) => {
        const other = otherAmount(entry)
        return other && hashedAnew(other)
      }),
    ],
    [
      'another key',
      ['chains_verify'],
      changeAccount('alice-one', (account) => ({ ...account, key: { keyId: 'mine', publicKey: 'mine' } })),
    ],
    ['the last entry, rewritten with the tip and the hash of its transaction', ['receipts_verify'], lastRewritten],
    [
      'the deletion of the last entry, with the state of the account from before it',
      ['no_negative_balance'],
      async (copy) => {
        let tip = ''
        await onEntries((entry) => {
          tip = entry.previousHash
          return entry.sequence === 0 ? entry : undefined
        })(copy)
        await onAlices((alices) => `DELETE FROM transactions WHERE ${alices} AND sequence = ${LAST}${alices})`)(copy)
        await changeAccount('alice-one', (account) => ({ ...account, sequence: account.sequence - 1, tip }))(copy)
      },
    ],
  ]
  test.for(cases)('I6: an audit finds %s', expectFound)
})

function onTransactions(
  isMeant: (transaction: Transaction) => boolean,
  change: (transaction: Transaction) => Partial<Transaction>,
): Tamper {
  return changeTransactions(({ transaction, receipt }) =>
    isMeant(transaction) ? { transaction: { ...transaction, ...change(transaction) }, receipt } : undefined,
  )
}

function isCredit({ accountId, type, amount }: Transaction): boolean {
  return accountId === 'alice-one' && type === 'credit' && amount === '100.5'
}

function isFailedDebit({ status, type }: Transaction): boolean {
  return status === 'failed' && type === 'debit'
}

const NOT_ENTERED: Partial<Transaction> = { sequence: null, previousHash: null, auditHash: null, entry: null }

/** A place in the chain without an entry. */
const PLACED = { sequence: 999, previousHash: 'ab'.repeat(32), auditHash: 'cd'.repeat(32) } as const

/** Seals the transaction with another amount bucket. */
const misfiled: Tamper = async (copy) => {
  const vault = await vaultOf(copy.url)
  const amountBucket: typeof vault.amountBucket = (...of) => vault.amountBucket(...of) + 1
  await changeTransactions((stored) => (isCredit(stored.transaction) ? stored : undefined))({
    ...copy,
    vault: { ...vault, amountBucket },
  })
}

describe('transactions', () => {
  test('I7: PostgreSQL refuses to change a failed transaction to completed without a place in the chain', async () => {
    const completed = onTransactions(isFailedDebit, () => ({ status: 'completed', failure: null }))
    await tampered.onCopy((copy) => expect(completed(copy)).rejects.toThrow('transactions_in_chain'))
  })

  const cases: readonly Case[] = [
    ['another amount', ['chains_verify', 'receipts_verify'], onTransactions(isCredit, () => ({ amount: '900.5' }))],
    ['an amount bucket that differs from the signed amount', ['chains_verify'], misfiled],
    [
      'an amount bucket that differs from the sealed one',
      ['chains_verify', 'receipts_verify'],
      run("UPDATE transactions SET amount_bucket = amount_bucket + 1 WHERE type = 'credit'"),
    ],
    [
      'a receipt with a revoked key',
      ['receipts_verify', 'provenance'],
      run("UPDATE service_keys SET revoked_at = now() WHERE purpose = 'receipt'"),
    ],
    [
      'a failed transaction changed to completed, with a place in the chain',
      ['chains_verify', 'receipts_verify'],
      onTransactions(isFailedDebit, () => ({ ...PLACED, status: 'completed', failure: null })),
    ],
    [
      'a failed transaction changed to completed, with a matching entry',
      ['chains_verify', 'receipts_verify'],
      onTransactions(isFailedDebit, (failed) => {
        const { sequence, previousHash: tip } = PLACED
        return chained({ sequence: sequence - 1, tip }, { ...failed, failure: null }, failed.createdAtMs, SALT)
          .transaction
      }),
    ],
    [
      'a completed transaction changed to failed',
      ['chains_verify', 'receipts_verify'],
      onTransactions(isCredit, () => ({
        ...NOT_ENTERED,
        status: 'failed',
        failure: { code: 'expired', detail: '' },
      })),
    ],
  ]
  test.for(cases)('I7: an audit finds %s', expectFound)

  test('an audit has no findings for rows that were opened and sealed again without a change', async () => {
    const nothing: Tamper = all(
      changeAccount('alice-one', (account) => account),
      onEntries((entry) => entry),
      changeTransactions((stored) => stored),
    )
    expect(await foundBy(tampered, nothing)).toEqual([])
  })
})

const ONE = parseQuantity('1')

function onGold(change: (token: TokenState) => TokenState): Tamper {
  return changeActors('token', (token) => (token.id === 'gold-one' ? change(token) : undefined))
}

function supplyChange(member: 'totalSupply' | 'initialSupply', to: string): Tamper {
  return onGold((token) => ({ ...token, [member]: to }))
}

describe('value', () => {
  const cases: readonly Case[] = [
    [
      'a raised balance',
      ['value_is_conserved', 'no_negative_balance'],
      changeBase('alice-one', ({ balance }) => ({ balance: balance + ONE })),
    ],
    [
      'value moved from one balance to another',
      ['no_negative_balance'],
      all(
        changeBase('alice-one', ({ balance }) => ({ balance: balance + ONE })),
        changeBase('bob-one', ({ balance }) => ({ balance: balance - ONE })),
      ),
    ],
    [
      'a balance changed to incoming',
      ['value_is_conserved', 'no_negative_balance'],
      changeBase('alice-one', ({ balance, incoming }) => ({
        balance: balance - ONE,
        incoming: incoming + ONE,
      })),
    ],
    [
      'changed totals of external accounts',
      ['value_is_conserved'],
      changeCrossings((crossings) =>
        crossings.map(([shardId, crossed]) => [
          shardId,
          crossed.map((one) => ({ ...one, credited: formatQuantity(parseQuantity(one.credited) + ONE) })),
        ]),
      ),
    ],
    ['a raised supply', ['value_is_conserved', 'supply_reconciles'], supplyChange('totalSupply', '5000')],
    [
      'a raised supply, with the total of external accounts',
      ['supply_reconciles'],
      async (copy) => {
        let before = ''
        await onGold((token) => {
          before = token.totalSupply
          return { ...token, totalSupply: '5000' }
        })(copy)
        await addCrossing([[0, [{ tokenId: 'GOLD-one', credited: before, debited: '5000' }]]])(copy)
      },
    ],
    ['another initial supply', ['supply_reconciles'], supplyChange('initialSupply', '5000')],
  ]
  test.for(cases)('I4, I5: an audit finds %s', expectFound)
})

describe('NFTs', () => {
  const onTravelled =
    (change: (event: NftEvent) => Partial<NftEvent> | undefined): Tamper =>
    (copy) =>
      changeEvents(tampered.told.travelled, (event) => {
        const changes = change(event)
        return changes && { ...event, ...changes }
      })(copy)
  const onInstance = (nft: 'travelled' | 'burned', change: (state: InstanceState) => InstanceState): Tamper =>
    changeActors('instance', (state) => (state.id.endsWith(`/${nft}`) ? change(state) : undefined))
  const cases: readonly Case[] = [
    [
      'the deletion of the last entry of a history',
      ['provenance'],
      (copy) => run(`DELETE FROM nft_events WHERE nft_id = '${tampered.told.travelled}' AND number = 3`)(copy),
    ],
    ['another owner', ['provenance'], onInstance('travelled', (state) => ({ ...state, owner: 'mallory' }))],
    [
      'the last entry of a history with another owner and a matching hash and instance',
      ['provenance'],
      async (copy) => {
        let first = ''
        await onTravelled(({ number, txnId, previousHash, ...event }) => {
          if (number === 1) first = txnId
          if (number !== 3) return undefined
          const payload = event.payload.replace('"to":"bob-one"', '"to":"alice-one"')
          return { to: 'alice-one', txnId: first, payload, eventHash: chainHash(previousHash, payload) }
        })(copy)
        await onInstance('travelled', (state) => ({ ...state, owner: 'alice-one' }))(copy)
      },
    ],
    [
      'an entry with the transaction of another NFT and matching hashes',
      ['provenance'],
      async (copy) => {
        let [other, tip] = ['', '']
        await changeTransactions((stored) => {
          if (stored.transaction.type !== 'burn' || !stored.transaction.tokenId.endsWith('/burned')) return undefined
          other = stored.transaction.txnId
          return stored
        })(copy)
        await onTravelled(({ number, txnId, previousHash, ...event }) => {
          if (number !== 3) return undefined
          const payload = event.payload.replace(txnId, other)
          tip = chainHash(previousHash, payload)
          return { txnId: other, payload, eventHash: tip }
        })(copy)
        await onInstance('travelled', (state) => ({ ...state, tip }))(copy)
      },
    ],
    [
      'another issuer of the class',
      ['provenance'],
      changeActors('class', (state) => ({ ...state, issuer: 'mallory' })),
    ],
    ['the deletion of the class', ['provenance'], run("DELETE FROM actors WHERE kind = 'class'")],
    [
      'the deletion of an NFT',
      ['provenance'],
      run("DELETE FROM actors WHERE kind = 'instance' AND actor_id LIKE '%/travelled'"),
    ],
    [
      'a burned NFT changed to active',
      ['provenance'],
      onInstance('burned', (state) => ({ ...state, status: 'active', owner: 'bob-one' })),
    ],
    [
      'a changed receipt of a transfer',
      ['receipts_verify', 'provenance'],
      changeTransactions(({ transaction, receipt }) => {
        const { type, tokenId, accountId, groupId, payload } = transaction
        const isMeant = type === 'transfer' && tokenId.endsWith('/travelled') && accountId === 'alice-one'
        if (!isMeant || groupId === null || payload.includes('terms_hash')) return undefined
        return { transaction, receipt: receipt && { ...receipt, signature: '' } }
      }),
    ],
    [
      'the deletion of the transaction of a mint',
      ['chains_verify', 'provenance'],
      run("DELETE FROM transactions WHERE type = 'mint' AND token_id LIKE '%/travelled'"),
    ],
  ]
  test.for(cases)('I9: an audit finds %s', expectFound)
})
