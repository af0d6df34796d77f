import type { Movement } from '../../../client/index.ts'

const COLUMNS = ['sequence', 'txn_id', 'type', 'amount', 'balance_after', 'timestamp'] as const

/** Movements as the ledger itself writes them (RFC 4180, with line feeds). */
export function statementCsv(movements: readonly Movement[]): string {
  const rows = movements.map((movement) => COLUMNS.map((name) => String(movement[name] ?? '')).join(','))
  return [COLUMNS.join(','), ...rows, ''].join('\n')
}
