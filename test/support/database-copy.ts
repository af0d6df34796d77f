/** Copies of a test's database, so that each may be damaged in another way. */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'

export interface DatabaseCopy {
  readonly url: string
  readonly sql: postgres.Sql
  readonly drop: () => Promise<void>
}

/** Nobody may be connected to the original. */
export async function copyOf(url: string): Promise<DatabaseCopy> {
  const original = new URL(url).pathname.slice(1)
  const name = `copy_${randomBytes(6).toString('hex')}`
  await onServer(url, (sql) => sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(original)}`)
  const address = new URL(url)
  address.pathname = `/${name}`
  const sql = postgres(address.toString(), { max: 2, onnotice: () => undefined })
  return {
    url: address.toString(),
    sql,
    drop: async () => {
      await sql.end()
      await onServer(url, (server) => server`DROP DATABASE ${server(name)} WITH (FORCE)`)
    },
  }
}

async function onServer(url: string, work: (sql: postgres.Sql) => PromiseLike<unknown>): Promise<void> {
  const address = new URL(url)
  address.pathname = '/postgres'
  const sql = postgres(address.toString(), { max: 1, onnotice: () => undefined })
  try {
    await work(sql)
  } finally {
    await sql.end()
  }
}
