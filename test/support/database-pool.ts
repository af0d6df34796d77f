/**
 * Copies of one database for tests, one after the other: what a test drops serves the next one, once it is as new
 * (database-condition.ts). What is not made as new is dropped indeed.
 *   P1. What was dropped cannot be reached: nobody is connected to it any more, and it bears its name no longer.
 */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import {
  type Condition,
  currentXid,
  type Inside,
  noteCondition,
  readRows,
  restore,
  type Rows,
} from './database-condition.ts'

export interface LentDatabase {
  readonly url: string
  /** Ends what is connected to it and takes it away. */
  readonly drop: () => Promise<void>
}

export interface DatabasePool {
  /** As new; its name was never given to another. */
  readonly take: () => Promise<LentDatabase>
  /** Removes what was dropped. */
  readonly close: () => Promise<void>
  /** Those that could not be made as new so far: where each was another one. */
  readonly givenUp: readonly string[]
}

export interface DatabasePoolOptions {
  /** Of a database of the server that is neither the original nor a copy. */
  readonly serverUrl: string
  /** The name of the database that is copied. Nobody is connected to it, and it stays as it is. */
  readonly original: string
  /** Of the copies' names. */
  readonly prefix: string
  /** What each copy has of its own. */
  readonly begin?: (sql: Inside) => PromiseLike<unknown>
}

interface Idle {
  readonly name: string
  readonly condition: Condition
}

export function createDatabasePool({ serverUrl, original, prefix, begin }: DatabasePoolOptions): DatabasePool {
  const idle: Idle[] = []
  const givenUp: string[] = []
  let originalRows: Promise<Rows> | undefined

  async function copy(name: string): Promise<Condition> {
    await copyDatabase(serverUrl, original, name)
    return inDatabase(urlOf(serverUrl, name), async (sql) => {
      originalRows ??= readRows(sql)
      await originalRows
      await begin?.(sql)
      return noteCondition(sql)
    })
  }

  /** Undefined when it was given up. */
  function reuse({ name, condition }: Idle): Promise<Condition | undefined> {
    return inDatabase(urlOf(serverUrl, name), async (sql) => {
      const different = await restore(sql, condition, (await originalRows) ?? new Map())
      if (different !== undefined) {
        givenUp.push(different)
        return undefined
      }
      await begin?.(sql)
      // All that has changed is who wrote it.
      return { ...condition, xid: await currentXid(sql) }
    })
  }

  function lend(name: string, condition: Condition): LentDatabase {
    const drop = async (): Promise<void> => {
      const renamed = newName(prefix)
      await onServer(serverUrl, (sql) => takeAway(sql, name, renamed))
      idle.push({ name: renamed, condition })
    }
    return { url: urlOf(serverUrl, name), drop }
  }

  return {
    take: async () => {
      for (let found = idle.pop(); found !== undefined; found = idle.pop()) {
        const condition = await reuse(found)
        if (condition !== undefined) return lend(found.name, condition)
        await dropDatabase(serverUrl, found.name)
      }
      const name = newName(prefix)
      return lend(name, await copy(name))
    },
    close: async () => {
      for (const { name } of idle.splice(0)) await dropDatabase(serverUrl, name)
    },
    givenUp,
  }
}

async function onServer<T>(
  url: string,
  work: (sql: postgres.Sql) => PromiseLike<T>,
  connection: Readonly<Record<string, string>> = {},
): Promise<T> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => undefined, connection })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

/** In one transaction, in which no trigger fires. */
async function inDatabase<T>(url: string, work: (sql: Inside) => Promise<T>): Promise<T> {
  const results: T[] = []
  const whole = (sql: postgres.Sql): Promise<unknown> =>
    sql.begin(async (transaction) => void results.push(await work(transaction)))
  await onServer(url, whole, { session_replication_role: 'replica' })
  return results[0] as T
}

const ENDS_WITHIN_MS = 180_000
const POLL_MS = 2
const OBJECT_IN_USE = '55006'

/** P1. Throws when somebody stays. */
async function takeAway(sql: postgres.Sql, name: string, renamed: string): Promise<void> {
  const deadlineMs = performance.now() + ENDS_WITHIN_MS
  for (;;) {
    // Asked for first: to rename what is in use takes five seconds to be refused.
    const ended = await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name}`
    if (ended.length === 0) {
      try {
        await sql`ALTER DATABASE ${sql(name)} RENAME TO ${sql(renamed)}`
        return
      } catch (error) {
        // Somebody came back in between.
        if (!(error instanceof postgres.PostgresError) || error.code !== OBJECT_IN_USE) throw error
      }
    }
    if (performance.now() > deadlineMs) throw new Error(`what is connected to ${name} does not end`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

function copyDatabase(serverUrl: string, original: string, name: string): Promise<unknown> {
  return onServer(serverUrl, (sql) => sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(original)}`)
}

function dropDatabase(serverUrl: string, name: string): Promise<unknown> {
  return onServer(serverUrl, (sql) => sql`DROP DATABASE ${sql(name)} WITH (FORCE)`)
}

function newName(prefix: string): string {
  return `${prefix}_${randomBytes(6).toString('hex')}`
}

function urlOf(serverUrl: string, database: string): string {
  const address = new URL(serverUrl)
  address.pathname = `/${database}`
  return address.toString()
}
