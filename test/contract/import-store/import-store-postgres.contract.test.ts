/**
 * The import store in PostgreSQL: S1 to S4, and D1: rows are unreadable without a key, and unsealed rows are not
 * accepted.
 */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createImportStore, type ImportStore } from '../../../infra/portability/import-store.ts'
import { LedgerImportsUnavailable } from '../../../runtime/ports/ledger-imports.ts'
import { createLedgerDatabase, type LedgerDatabase, vaultOf } from '../../support/postgres/ledger-database.ts'
import { aPart, HEAD, importStoreContract } from './import-store.contract.ts'

importStoreContract('PostgreSQL', async () => {
  const database = await createLedgerDatabase()
  const store = createImportStore({ url: database.url, vault: await vaultOf(database.url) })
  return {
    store,
    close: async () => {
      await store.close()
      await database.drop()
    },
  }
})

describe('imports at rest', () => {
  let database: LedgerDatabase
  let sql: postgres.Sql
  let store: ImportStore
  beforeAll(async () => {
    database = await createLedgerDatabase()
    sql = postgres(database.url, { max: 1, onnotice: () => undefined })
    store = createImportStore({ url: database.url, vault: await vaultOf(database.url) })
    await store.begin(HEAD, { ...aPart(0), content: store.contentRef(HEAD.importId, 'NEEDLE') })
    await store.change(HEAD, { ...HEAD, position: 1 }, { found: { part: 0, present: { records: [1], issuers: [] } } })
  })
  afterAll(async () => {
    await store.close()
    await sql.end()
    await database.drop()
  })

  test('staged content is unreadable in the rows', async () => {
    const rows = await sql`
      SELECT (imports.*)::text || (import_parts.*)::text || encode(imports.document, 'escape')
             || encode(import_parts.document, 'escape') AS text
        FROM imports JOIN import_parts USING (import_id)`
    const text = String(rows[0]?.['text'])
    expect(text).toContain(HEAD.importId)
    for (const needle of ['NEEDLE', 'alice', '777.5', 'operations', 'the-other-ledger']) {
      expect(text).not.toContain(needle)
    }
  })

  test.for(['status', 'next_part', 'position'])('D1: a head whose %s was changed is not accepted', async (column) => {
    const before = await sql`SELECT ${sql(column)}::text AS value FROM imports`
    const value = column === 'status' ? 'taking' : '7'
    await sql.unsafe(`UPDATE imports SET ${column} = '${value}'`)
    await expect(store.head(HEAD.importId)).rejects.toThrow(LedgerImportsUnavailable)
    await sql.unsafe(`UPDATE imports SET ${column} = '${String(before[0]?.['value'])}'`)
    expect((await store.head(HEAD.importId))?.position).toBe(1)
  })

  test('D1: a part is not taken for another, nor the findings of one for those of another', async () => {
    await sql`INSERT INTO import_parts (import_id, part, content, document, present) SELECT import_id, 1, content, document, present FROM import_parts`
    await expect(store.part(HEAD.importId, 1)).rejects.toThrow(LedgerImportsUnavailable)
    await expect(store.present(HEAD.importId, 1)).rejects.toThrow(LedgerImportsUnavailable)
    expect(await store.present(HEAD.importId, 0)).toEqual({ records: [1], issuers: [] })
  })

  test('a database that does not answer is a failure of the port', async () => {
    const away = createImportStore({ url: 'postgres://unknown@127.0.0.1:1/none', vault: await vaultOf(database.url) })
    await expect(away.head(HEAD.importId)).rejects.toThrow(LedgerImportsUnavailable)
    await away.close()
  })
})
