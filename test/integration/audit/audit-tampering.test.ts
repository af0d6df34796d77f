/**
 * Goal: a change of a chain, a transaction, value, supply or an owner past the ledger is found by its control, even if the
 * attacker has all keys; an unchanged ledger has no findings. Each damage is done to a copy of its own. Errors within one
 * row: test/unit/actors/audit*.test.ts.
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
      SELECT (SELECT count(*)::integer FROM chain_entries) AS chains_verify,
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

/** The last entry, which is that of a transaction, salted anew, where its account says the same of it. */
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
    ['the last entry rewritten, with the tip and the hash of its transaction', ['receipts_verify'], lastRewritten],
    [
      'the last entry deleted, and the account put back before it',
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
  test.for(cases)('I6: %s is found', expectFound)
})

/** Transactions of any account, and their ends. */
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

/** A place that no entry has. */
const PLACED = { sequence: 999, previousHash: 'ab'.repeat(32), auditHash: 'cd'.repeat(32) } as const

/** Sealed with the column by which it is searched. */
const misfiled: Tamper = async (copy) => {
  const vault = await vaultOf(copy.url)
  const amountBucket: typeof vault.amountBucket = (...of) => vault.amountBucket(...of) + 1
  await changeTransactions((stored) => (isCredit(stored.transaction) ? stored : undefined))({
    ...copy,
    vault: { ...vault, amountBucket },
  })
}

describe('transactions', () => {
  test('I7: one that failed cannot be made out as completed without a place in the chain', async () => {
    const completed = onTransactions(isFailedDebit, () => ({ status: 'completed', failure: null }))
    await tampered.onCopy((copy) => expect(completed(copy)).rejects.toThrow('transactions_in_chain'))
  })

  const cases: readonly Case[] = [
    ['another amount', ['chains_verify', 'receipts_verify'], onTransactions(isCredit, () => ({ amount: '900.5' }))],
    ['another amount to be searched by than was signed', ['chains_verify'], misfiled],
    [
      'another amount to be searched by than was sealed',
      ['chains_verify', 'receipts_verify'],
      run("UPDATE transactions SET amount_bucket = amount_bucket + 1 WHERE type = 'credit'"),
    ],
    [
      'a receipt under a key that was revoked',
      ['receipts_verify', 'provenance'],
      run("UPDATE service_keys SET revoked_at = now() WHERE purpose = 'receipt'"),
    ],
    [
      'one that failed made out as completed, at a place of the chain',
      ['chains_verify', 'receipts_verify'],
      onTransactions(isFailedDebit, () => ({ ...PLACED, status: 'completed', failure: null })),
    ],
    [
      'one that failed made out as completed, with an entry that says the same',
      ['chains_verify', 'receipts_verify'],
      onTransactions(isFailedDebit, (failed) => {
        const { sequence, previousHash: tip } = PLACED
        return chained({ sequence: sequence - 1, tip }, { ...failed, failure: null }, failed.createdAtMs, SALT)
          .transaction
      }),
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
      'a balance raised',
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
      'a balance made incoming',
      ['value_is_conserved', 'no_negative_balance'],
      changeBase('alice-one', ({ balance, incoming }) => ({
        balance: balance - ONE,
        incoming: incoming + ONE,
      })),
    ],
    [
      'another sum of what came over the boundary',
      ['value_is_conserved'],
      changeCrossings((crossings) =>
        crossings.map(([shardId, crossed]) => [
          shardId,
          crossed.map((one) => ({ ...one, credited: formatQuantity(parseQuantity(one.credited) + ONE) })),
        ]),
      ),
    ],
    ['a supply raised', ['value_is_conserved', 'supply_reconciles'], supplyChange('totalSupply', '5000')],
    [
      'a supply raised, and the sum at the boundary with it',
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
  test.for(cases)('I4, I5: %s is found', expectFound)
})

describe('NFTs', () => {
  /** Entries of the history of the NFT that went about. */
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
      'the last entry deleted',
      ['provenance'],
      (copy) => run(`DELETE FROM nft_events WHERE nft_id = '${tampered.told.travelled}' AND number = 3`)(copy),
    ],
    ['another owner', ['provenance'], onInstance('travelled', (state) => ({ ...state, owner: 'mallory' }))],
    [
      'the last entry rewritten to another owner, hashed anew, with the instance',
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
      'an entry under a transaction of another NFT, hashed anew to the end',
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
    ['the class deleted', ['provenance'], run("DELETE FROM actors WHERE kind = 'class'")],
    [
      'an NFT deleted',
      ['provenance'],
      run("DELETE FROM actors WHERE kind = 'instance' AND actor_id LIKE '%/travelled'"),
    ],
    [
      'a burned NFT brought back',
      ['provenance'],
      onInstance('burned', (state) => ({ ...state, status: 'active', owner: 'bob-one' })),
    ],
    [
      'the receipt of a transfer',
      ['receipts_verify', 'provenance'],
      changeTransactions(({ transaction, receipt }) => {
        const { type, tokenId, accountId, groupId, payload } = transaction
        const isMeant = type === 'transfer' && tokenId.endsWith('/travelled') && accountId === 'alice-one'
        if (!isMeant || groupId === null || payload.includes('terms_hash')) return undefined
        return { transaction, receipt: receipt && { ...receipt, signature: '' } }
      }),
    ],
    [
      'the transaction of a mint deleted',
      ['chains_verify', 'provenance'],
      run("DELETE FROM transactions WHERE type = 'mint' AND token_id LIKE '%/travelled'"),
    ],
  ]
  test.for(cases)('I9: %s is found', expectFound)
})
