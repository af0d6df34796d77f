/** A place in a list of transactions as the text of a page token's cursor. */
import type { TransactionCursor } from '../../runtime/ports/ledger-reads.ts'

/** Transaction IDs have no space in them; what stands behind the first one is the position, if there is any. */
export function cursorText(cursor: TransactionCursor): string {
  return cursor.position === null ? cursor.txnId : `${cursor.txnId} ${cursor.position}`
}

/** Of a text that `cursorText` wrote: the token's MAC vouches for that. */
export function readCursor(text: string): TransactionCursor {
  const space = text.indexOf(' ')
  return space < 0 ? { txnId: text, position: null } : { txnId: text.slice(0, space), position: text.slice(space + 1) }
}
