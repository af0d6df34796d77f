/** Copies of a test's database, so that each may be damaged in another way. */
import postgres from 'postgres'
import { createDatabasePool } from './database-pool.ts'

export interface DatabaseCopy {
  readonly url: string
  readonly sql: postgres.Sql
}

export interface DatabaseCopies {
  readonly onCopy: <T>(work: (copy: DatabaseCopy) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

/** Nobody may be connected to the original, and it stays as it is. */
export function createDatabaseCopies(url: string): DatabaseCopies {
  const server = new URL(url)
  server.pathname = '/postgres'
  const original = new URL(url).pathname.slice(1)
  const pool = createDatabasePool({ serverUrl: server.toString(), original, prefix: 'copy' })
  return {
    onCopy: async (work) => {
      const copy = await pool.take()
      const sql = postgres(copy.url, { max: 2, onnotice: () => undefined })
      try {
        return await work({ url: copy.url, sql })
      } finally {
        await sql.end()
        await copy.drop()
      }
    },
    close: pool.close,
  }
}
