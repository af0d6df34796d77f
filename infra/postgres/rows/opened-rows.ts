/** For readers of sealed rows: fetches the data keys of the rows, and names a damaged row. */
import type postgres from 'postgres'
import type { KeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'

/** One statement for those that are not in memory; none when all are. */
export async function fetchKeys(sql: postgres.ISql, names: readonly KeyName[], vault: RowVault): Promise<void> {
  if (names.length > 0) await vault.keys.fetch(sql, names)
}

/**
 * What `open` makes of the row at `place`. Throws UnreadableRow, whatever it stumbles over, and without a cause: errors of
 * parsing quote what they could not parse.
 */
export function opened<T>(place: string, open: () => T): T {
  try {
    return open()
  } catch (error) {
    if (error instanceof UnreadableRow) throw error
    throw new UnreadableRow(place, 'it does not say what such a row says')
  }
}
