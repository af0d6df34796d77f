/** A section of a commit's statement: its rows and their columns. */
import type { ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import type { Base64Text } from '../../vault/sealed-text.ts'
import type { ColumnType, ColumnValue } from '../connection/array-literal.ts'
import type { RowSealer } from '../rows/row-sealer.ts'

/** Other digits than base64 would be read as base64 all the same, and never open again: a sealed column takes no other. */
export type Column<Row> = PlainColumn<Row> | OfType<Row, 'sealed', Base64Text | null>

export type PlainColumn<Row> = OfType<Row, Exclude<ColumnType, 'sealed'>, ColumnValue>

interface OfType<Row, Type extends ColumnType, Value> {
  readonly name: string
  readonly type: Type
  readonly value: (row: Row, sealer: RowSealer) => Value
}

/** Rows of one table, or of one way to write it. `shard_id` comes first, always, and is not among the columns. */
export interface Section {
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[]
  /** The rows of a shard's part, a value a column in the order of the columns. */
  readonly rowsOf: (part: ShardBatch, sealer: RowSealer) => readonly (readonly ColumnValue[])[]
  readonly write: Write
  /** F3: the fault when the statement writes another number of rows than arrived. Then `write` returns a row for each row written. */
  readonly fault: string | undefined
}

/** The statement that writes the rows that arrive for shards that the fence let pass (F2). */
export type Write = (arriving: ArrivingRows) => string

export interface ArrivingRows {
  /** `shard_id` first. */
  readonly columns: readonly string[]
  /** A table `i` with these columns. */
  readonly table: string
  /** The names of all sections of the commit's statement. */
  readonly sections: readonly string[]
}

export function section<Row>(
  select: (part: ShardBatch, sealer: RowSealer) => readonly Row[],
  columns: readonly Column<Row>[],
  write: Write,
  fault?: string,
): Section {
  return {
    columns,
    rowsOf: (part, sealer) => select(part, sealer).map((row) => columns.map((column) => column.value(row, sealer))),
    write,
    fault,
  }
}
