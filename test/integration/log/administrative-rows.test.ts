/** Changes of administrative rows that the log does not show are found. */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkAdministrativeEntries } from '../../../infra/checkpoints/checkpoint-administrative.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import { recordActs } from '../../support/postgres/administrative-acts.ts'
import { createLedgerDatabase, type LedgerDatabase, vaultOf } from '../../support/postgres/ledger-database.ts'

const CHANGED = 'its row was changed, or cannot be read'

let database: LedgerDatabase
let sql: postgres.Sql
let vault: RowVault

beforeAll(async () => {
  database = await createLedgerDatabase()
  sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  vault = await vaultOf(database.url)
  await recordActs({ url: database.url, ledgerId: 'this-ledger', vault }, 'alice', 10)
})
afterAll(async () => {
  await sql.end()
  await database.drop()
})

/** Undoes the change afterwards. */
async function problemsAfter(statement: string): Promise<readonly string[]> {
  const problems: string[] = []
  await sql.unsafe('CREATE TABLE kept AS SELECT * FROM administrative_entries')
  try {
    const { count } = await sql.unsafe(statement)
    if (count !== 1) throw new Error(`${count} rows were changed by ${statement}`)
    await checkAdministrativeEntries({ sql, vault, report: (problem) => void problems.push(problem) })
  } finally {
    await sql.unsafe('TRUNCATE administrative_entries')
    await sql.unsafe('INSERT INTO administrative_entries SELECT * FROM kept ORDER BY sequence')
    await sql.unsafe('DROP TABLE kept')
  }
  return problems
}

/** A column of entry 6. */
function ofSixth(column: string): string {
  return `(SELECT ${column} FROM administrative_entries WHERE sequence = 6)`
}

describe('an administrative row', () => {
  test.for([
    ['document = document WHERE sequence = 7', []],
    ['document = set_byte(document, 40, get_byte(document, 40) # 1) WHERE sequence = 7', [`7: ${CHANGED}`]],
    [`document = ${ofSixth('document')} WHERE sequence = 7`, [`7: ${CHANGED}`]],
    ["audit_hash = sha256('x') WHERE sequence = 7", [`7: ${CHANGED}`, '8 does not continue entry 7']],
    ["previous_hash = sha256('x') WHERE sequence = 7", [`7: ${CHANGED}`, '7 does not continue entry 6']],
    ["previous_hash = sha256('x') WHERE sequence = 0", [`0: ${CHANGED}`, '0 does not continue an empty chain']],
    ['account_id = NULL WHERE sequence = 6', [`6: ${CHANGED}`]],
    [`account_id = ${ofSixth('account_id')} WHERE sequence = 7`, [`7: ${CHANGED}`]],
  ] as const)('that is set to %s is named', async ([change, problems]) => {
    const found = await problemsAfter(`UPDATE administrative_entries SET ${change}`)
    expect(found).toEqual(problems.map((problem) => `administrative entry ${problem}`))
  })

  test('that was removed is missed by the entry after it', async () => {
    const found = await problemsAfter('DELETE FROM administrative_entries WHERE sequence = 0')
    expect(found).toEqual(['administrative entry 1 does not continue an empty chain'])
  })
})
