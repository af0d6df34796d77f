/** A database without a ledger in it, on the server of the stage's own. */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import type { Stage } from './stage.ts'

export interface UnmigratedDatabase {
  readonly url: string
  readonly drop: () => Promise<void>
}

export async function createUnmigratedDatabase({ cluster }: Stage): Promise<UnmigratedDatabase> {
  const name = `unmigrated_${randomBytes(6).toString('hex')}`
  const run = async (work: (sql: postgres.Sql) => PromiseLike<unknown>): Promise<void> => {
    const sql = postgres(cluster.databaseUrl(), { max: 1, onnotice: () => undefined })
    try {
      await work(sql)
    } finally {
      await sql.end()
    }
  }
  await run((sql) => sql`CREATE DATABASE ${sql(name)}`)
  const url = new URL(cluster.databaseUrl())
  url.pathname = `/${name}`
  return { url: url.toString(), drop: () => run((sql) => sql`DROP DATABASE ${sql(name)} WITH (FORCE)`) }
}
