/**
 * Folds many rows of value that entered or left the ledger into one: each commit adds a row, and a sum opens all of them.
 *   F1. A session folds only its own rows, in one statement: a reader sees either the many or the one.
 *   F2. Of two concurrent folds one fails as a whole: no row is removed that was not added up.
 *   F3. Rows that were added after the read stay: a commit may add one at any time.
 */
import type { BoundaryCrossing } from '../../../runtime/ports/ledger-store.ts'
import { formatQuantity, parseQuantity, type Quantity, ZERO } from '../../../actors/money.ts'
import { LEDGER_KEY_NAME } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { arrayLiteral, column } from '../connection/array-literal.ts'
import { crossingsOf, type CrossingsRow, openCrossings } from '../rows/boundary-crossings.ts'
import type { Sql } from '../connection/connection.ts'
import { PLACES } from '../rows/row-sealer.ts'

/** Fewer are left as they are. */
const WORTH_FOLDING = 64
const MOST_AT_ONCE = 1_000

/** Numbers of folded rows are negative: those of commits are given by the session as it goes. */
export async function foldCrossings(sql: Sql, session: string, vault: RowVault): Promise<void> {
  const rows = await sql<CrossingsRow[]>`
    SELECT session, number, shards, document FROM boundary_crossings
     WHERE session = ${session} ORDER BY abs(number) LIMIT ${MOST_AT_ONCE}`
  if (rows.length < WORTH_FOLDING) return
  await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
  const totals = totalsOf(rows.flatMap((row) => openCrossings(row, vault)))
  const number = -Math.max(...rows.map((row) => Math.abs(Number(row.number))))
  const { shards, text } = crossingsOf(totals)
  const document = vault.seal(LEDGER_KEY_NAME, PLACES.crossings(session, number), text)
  const numbers = column('bigint', rows, (row) => Number(row.number))
  await sql`
    WITH folded AS (
      DELETE FROM boundary_crossings WHERE session = ${session} AND number = ANY(${numbers}::bigint[]) RETURNING 1)
    INSERT INTO boundary_crossings (session, number, shards, document)
    SELECT ${session}, ${number}, ${arrayLiteral('integer', shards)}::integer[], decode(${document}, 'hex')
     WHERE ledger_demand((SELECT count(*) FROM folded) = ${rows.length}, 'what is folded was there when it was added up')`
}

function totalsOf(crossings: readonly BoundaryCrossing[]): readonly BoundaryCrossing[] {
  const totals = new Map<string, { readonly credited: Quantity; readonly debited: Quantity }>()
  for (const { tokenId, credited, debited } of crossings) {
    const before = totals.get(tokenId) ?? { credited: ZERO, debited: ZERO }
    totals.set(tokenId, {
      credited: before.credited + parseQuantity(credited),
      debited: before.debited + parseQuantity(debited),
    })
  }
  return [...totals].map(([tokenId, { credited, debited }]) => ({
    tokenId,
    credited: formatQuantity(credited),
    debited: formatQuantity(debited),
  }))
}
