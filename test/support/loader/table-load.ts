/**
 * Tables being filled that have few rows or none, which stay, each in one transaction down one connection.
 *   B1. Without its indexes, which are made anew at the end, in the order in which they were made first: the planner takes
 *       the newest of those that promise equally little.
 *   B2. Emptied and filled in one transaction, so that its rows are frozen as they come (documentation, COPY, FREEZE): no
 *       later reader has to look up their transaction, and none has to be vacuumed.
 *   B3. All or nothing: a load that fails leaves the table as it was, indexes and all.
 */
import type { Writable } from 'node:stream'
import { connect, type Connection, type Sql } from '../../../infra/postgres/connection/connection.ts'
import type { TableRows } from './copy-text.ts'

/** All that are being filled, each opened when its first rows come. */
export class TableLoads {
  private readonly url: string
  private readonly loads = new Map<string, Promise<TableLoad>>()

  constructor(url: string) {
    this.url = url
  }

  async write(tables: readonly TableRows[]): Promise<void> {
    await Promise.all(
      tables.map(async ({ table, columns, text }) => {
        const opened = this.loads.get(table) ?? openTableLoad(this.url, table, columns)
        this.loads.set(table, opened)
        await (await opened).write(text)
      }),
    )
  }

  async finish(): Promise<void> {
    const loads = await Promise.all(this.loads.values())
    await Promise.all(loads.map((load) => load.finish()))
  }

  abandon(): void {
    for (const opened of this.loads.values()) {
      opened.then(
        (load) => load.abandon(),
        () => undefined,
      )
    }
  }
}

interface TableLoad {
  /** Whole lines of `COPY`'s text format. Resolves when more may come. */
  readonly write: (text: string) => Promise<void>
  /** Makes the indexes and commits. */
  readonly finish: () => Promise<void>
  /** Nothing of it stays. */
  readonly abandon: () => void
}

const SETTINGS = {
  synchronous_commit: 'off',
  // Of one of several that are made at once; what a million rows' keys take.
  maintenance_work_mem: '256MB',
}

async function openTableLoad(url: string, table: string, columns: readonly string[]): Promise<TableLoad> {
  const connection = await connect({ url, applicationName: `load ${table}`, settings: SETTINGS })
  try {
    const { sql } = connection
    await sql.unsafe('BEGIN')
    await sql.unsafe(`CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM ${table}`)
    await sql.unsafe(`TRUNCATE ${table}`)
    await sql.unsafe(`INSERT INTO ${table} SELECT * FROM kept`)
    const indexes = await indexesOf(sql, table)
    for (const { drop } of indexes) await sql.unsafe(drop)
    const copying = sql.unsafe(`COPY ${table} (${columns.join(', ')}) FROM STDIN (FREEZE)`)
    const stream = await copying.writable()
    const refused = new Promise<never>((_resolve, reject) => {
      // The driver gives a refusal to the stream while there is one, and to the query after the last line; the query was
      // answered with the stream, and the refusal would be lost.
      void Object.assign(copying, { reject })
      stream.once('error', reject)
    })
    // It may reject before a caller waits.
    refused.catch(() => undefined)
    return filling(connection, table, indexes, stream, refused)
  } catch (error) {
    connection.destroy()
    throw error
  }
}

function filling(
  { sql, destroy, end }: Connection,
  table: string,
  indexes: readonly IndexDefinition[],
  stream: Writable,
  refused: Promise<never>,
): TableLoad {
  const done = async (work: (onDone: () => void) => void): Promise<void> => {
    try {
      await Promise.race([refused, new Promise<void>((resolve) => work(resolve))])
    } catch (cause) {
      throw new Error(`rows of ${table} were refused: ${cause instanceof Error ? cause.message : ''}`, { cause })
    }
  }
  return {
    write: (text) => done((onDone) => void stream.write(text, onDone)),
    finish: async () => {
      await done((onDone) => void stream.end(onDone))
      for (const { create } of indexes) await sql.unsafe(create)
      await sql.unsafe('COMMIT')
      await end()
    },
    abandon: destroy,
  }
}

interface IndexDefinition {
  readonly drop: string
  readonly create: string
}

/** In the order in which they were made. */
async function indexesOf(sql: Sql, table: string): Promise<readonly IndexDefinition[]> {
  return sql<IndexDefinition[]>`
    SELECT CASE WHEN c.oid IS NULL THEN format('DROP INDEX %s', i.indexrelid::regclass)
                ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', ${table}::text, c.conname) END AS drop,
           CASE WHEN c.oid IS NULL THEN pg_get_indexdef(i.indexrelid)
                ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s', ${table}::text, c.conname, pg_get_constraintdef(c.oid))
                END AS create
      FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.contype IN ('p', 'u')
     WHERE i.indrelid = ${table}::text::regclass
     ORDER BY i.indexrelid`
}
