/** A stolen copy of the database: every table as rows of texts. */
import postgres from 'postgres'

export type Row = Readonly<Record<string, string | null>>
/** Rows in the order in which they lie, by table. */
export type Dump = ReadonlyMap<string, readonly Row[]>

export async function readDump(url: string): Promise<Dump> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    const tables = await sql<{ name: string; columns: string[] }[]>`
      SELECT quote_ident(c.relname) AS name, array_agg(quote_ident(a.attname)) AS columns
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace GROUP BY c.relname`
    const dump = new Map<string, readonly Row[]>()
    for (const { name, columns } of tables) {
      const texts = columns.map((column) => `${column}::text`)
      dump.set(name, await sql.unsafe<Row[]>(`SELECT ${texts.join(', ')} FROM ${name} ORDER BY ctid`))
    }
    return dump
  } finally {
    await sql.end()
  }
}

export function rowsOf(dump: Dump, table: string): readonly Row[] {
  return dump.get(table) ?? []
}

export function textIn(row: Row, column: string): string {
  return row[column] ?? ''
}

/** Bytes. PostgreSQL shows a `bytea` as `\x` and two digits for each byte. */
export function lengthIn(row: Row, column: string): number {
  return (textIn(row, column).length - 2) / 2
}

const TIMESTAMP = /^\d{4}-\d\d-\d\d /

/** Numbers and timestamps (in microseconds) by their size; NaN of another text. */
export function sizeOf(value: string | null | undefined): number {
  if (value === null || value === undefined || value === '') return Number.NaN
  if (!TIMESTAMP.test(value)) return Number(value)
  const micros = /\.\d{3}(\d{1,3})/.exec(value)?.[1] ?? ''
  return Date.parse(value) * 1_000 + Number(micros.padEnd(3, '0'))
}

export function isOfTime(column: string, value: string | null | undefined): boolean {
  return column.endsWith('_xid') || TIMESTAMP.test(value ?? '')
}

export function groupedBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
