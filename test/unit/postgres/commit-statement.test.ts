import { expect, test } from 'vitest'
import { commitStatement } from '../../../infra/postgres/commit-statement.ts'
import type { ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import { creditAccount, openAccount, partOf, partWith, type Rows } from '../../support/ledger-rows.ts'
import { PLAIN_VAULT } from '../../support/row-vaults.ts'
import { concludeTransfer, pendTransfer, sendRows } from '../../support/ledger-rows-values.ts'

const CONTEXT = { session: 'session', number: 1, vault: PLAIN_VAULT, made: new Map<never, never>() }
const TOKEN = { shardId: 3, epoch: 1, attempt: 0 }
const OPEN = openAccount(3, 'alice')
const CREDIT = creditAccount(OPEN.account, 'k1')
const PENDING = pendTransfer(CREDIT.account, 'k2')
const CONCLUDED = concludeTransfer(PENDING.account, PENDING.rows.transactions[0]?.transaction.txnId ?? '')
const CROSSED: Partial<Rows> = { boundary: [{ tokenId: 'BASE', credited: '1', debited: '0' }] }

function tablesOf(...parts: readonly ShardBatch[]): string[] {
  const { text } = commitStatement({ shards: parts }, CONTEXT)
  const tables = [...text.matchAll(/(?:INSERT INTO|UPDATE|DELETE FROM) ([a-z_]+)/g)].map((found) => found[1] ?? '')
  return [...new Set(tables)].toSorted()
}

test('a batch of credits and debits carries nothing of tables that they do not touch', () => {
  const tables = ['accounts', 'audit_entries', 'balances', 'boundary_crossings', 'commit_counts', 'transactions']
  expect(tablesOf(partWith(TOKEN, CREDIT.rows, CROSSED))).toEqual(tables)
})

test('the three steps of a transfer take one statement, which makes no accounts and knows no groups', () => {
  const steps = [
    partWith(TOKEN, PENDING.rows, sendRows(2, 2, 2)),
    partWith(TOKEN, CREDIT.rows, sendRows(2, 2, 2), { marks: [{ source: 2, mark: 1 }] }),
    partWith(TOKEN, CONCLUDED.rows, { marks: [{ source: 2, mark: 1 }] }),
  ]
  const texts = new Set(steps.map((part) => commitStatement({ shards: [part] }, CONTEXT).text))
  expect(texts.size).toBe(1)
  const tables = tablesOf(...steps)
  expect(tables).toContain('holds')
  for (const other of ['actors', 'account_keys', 'operations']) expect(tables).not.toContain(other)
})

test('every parameter of a statement is given, and none beside', () => {
  for (const part of [partOf(TOKEN), partOf(TOKEN, CREDIT), partOf(TOKEN, PENDING), partOf(TOKEN, OPEN)]) {
    const { text, parameters } = commitStatement({ shards: [part] }, CONTEXT)
    const numbers = [...text.matchAll(/\$(\d+)/g)].map((found) => Number(found[1]))
    expect(parameters).toHaveLength(Math.max(...numbers))
    expect(new Set(numbers).size).toBe(parameters.length)
  }
})
