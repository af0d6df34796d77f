/**
 * The statement that commits a batch: one, autocommit, set-based.
 *   F1. It opens with the fence, a materialized CTE that locks the rows of the shards whose epoch, attempt and session
 *       are those given, in order, and skips what is locked. It locks and does not write.
 *   F2. Every write takes only rows of shards that the fence returned. The condition is `(… IN (…)) IS TRUE`: so it
 *       stays a look-up in a hash table of the fence, never a join that a plan could turn around.
 *   F3. A row that was computed from an earlier version is written only over that version: accounts, actors, changes of
 *       transactions, counters and marks. The written rows are counted; an unexpected count raises LG001 (I1b).
 * A few shapes of it, so that the common ones do not carry columns of tables that they do not touch; all are generated
 * from the description in `commit-rows.ts`.
 */
import type { CommitBatch, ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import { LEDGER_KEY_NAME } from '../../vault/key-name.ts'
import type { MadeKeys, RowVault } from '../../vault/row-vault.ts'
import {
  arrayExpression,
  arrayLiteral,
  arrayParameter,
  type ColumnType,
  type ColumnValue,
  elementExpression,
} from '../connection/array-literal.ts'
import { SECTION_NAMES, type SectionName, SECTIONS } from './commit-rows.ts'
import { crossingsText } from '../rows/boundary-crossings.ts'
import type { ArrivingRows, Section } from './commit-section.ts'
import { FENCED, noteOf } from './commit-writes.ts'
import { createRowSealer, PLACES } from '../rows/row-sealer.ts'
import { INSERT_COUNTS } from '../rows/shard-counts.ts'

export interface CommitStatement {
  readonly text: string
  readonly parameters: string[]
}

interface Shape {
  readonly sections: readonly SectionName[]
  readonly text: string
}

/** Sections that credits and debits of the external account write. */
const AT_BOUNDARY: readonly SectionName[] = ['changed_accounts', 'balances', 'audit_entries', 'transactions']

/** Sections that transfers between accounts write: at the sender, at the receiver, and at the sender again. */
const OF_TRANSFERS: readonly SectionName[] = [
  ...AT_BOUNDARY,
  'pending_transactions',
  'pending_holds',
  'ended_transactions',
  'holds',
  'removed_holds',
  'outbox',
  'new_channels',
  'sent',
  'marks',
]

/** From lean to whole; a batch takes the first that has all it needs. */
const SHAPES: readonly Shape[] = [shapeOf([]), shapeOf(AT_BOUNDARY), shapeOf(OF_TRANSFERS), shapeOf(SECTION_NAMES)]

export interface StatementContext {
  readonly session: string
  /** Of this statement, among those of the session: larger than those before. */
  readonly number: number
  readonly vault: RowVault
  /** Keys of what is new with the batch; all others that it needs are in memory. */
  readonly made: MadeKeys
}

/** Throws a RangeError for a time that is none, and for a batch that no shape fits. */
export function commitStatement(batch: CommitBatch, context: StatementContext): CommitStatement {
  const parts = batch.shards
  const { session, vault, made } = context
  const sealers = parts.map((part) => createRowSealer(vault, part.token.shardId, made))
  const rowsOf = (name: SectionName): Rows[] =>
    parts.map((part, index) => {
      const sealer = sealers[index]
      return sealer === undefined ? [] : SECTIONS[name].rowsOf(part, sealer)
    })
  const rows = new Map(SECTION_NAMES.map((name) => [name, rowsOf(name)]))
  // Value that enters or leaves the ledger belongs to the statements with transactions.
  const crosses = parts.some(({ boundary }) => boundary.length > 0)
  const isNeeded = (name: SectionName): boolean =>
    (crosses && name === 'transactions') || rows.get(name)?.some((ofShard) => ofShard.length > 0) === true
  const needed = SECTION_NAMES.filter(isNeeded)
  const shape = SHAPES.find(({ sections }) => needed.every((name) => sections.includes(name)))
  if (shape === undefined) throw new RangeError(`no statement writes ${needed.join(', ')}`)
  const parameters = [...fenceParameters(parts), session]
  if (shape.sections.includes('transactions')) {
    parameters.push(...countParameters(parts), ...crossingParameters(batch, context))
  }
  for (const name of shape.sections) parameters.push(...sectionParameters(SECTIONS[name], parts, rows.get(name) ?? []))
  return { text: shape.text, parameters }
}

function fenceParameters(parts: readonly ShardBatch[]): string[] {
  return [
    integers(parts, (part) => part.token.shardId),
    integers(parts, (part) => part.token.epoch),
    integers(parts, (part) => part.token.attempt),
  ]
}

function countParameters(parts: readonly ShardBatch[]): string[] {
  return (['completed', 'failed'] as const).map((status) => integers(parts, (part) => decidedIn(part, status)))
}

function decidedIn({ transactions, transactionChanges }: ShardBatch, status: 'completed' | 'failed'): number {
  const entered = transactions.filter(({ transaction }) => transaction.status === status)
  const finished = transactionChanges.filter((change) => change.finished?.transaction.status === status)
  return entered.length + finished.length
}

/** One number and one text, or none of either: arrays, so that nothing is a row too few. */
function crossingParameters(batch: CommitBatch, { session, number, vault }: StatementContext): string[] {
  const text = crossingsText(batch)
  if (text === undefined) return [arrayLiteral('bigint', []), arrayLiteral('bytea', [])]
  const sealed = vault.seal(LEDGER_KEY_NAME, PLACES.crossings(session, number), text)
  return [arrayLiteral('bigint', [number]), arrayLiteral('bytea', [sealed])]
}

function integers(parts: readonly ShardBatch[], value: (part: ShardBatch) => number): string {
  return arrayLiteral('bigint', parts.map(value))
}

type Rows = readonly (readonly ColumnValue[])[]

/** One array a column, `shard_id` first, over the rows of all shards. */
function sectionParameters(section: Section, parts: readonly ShardBatch[], rowsByPart: readonly Rows[]): string[] {
  const shardIds = parts.flatMap(({ token }, index) =>
    Array<number>(rowsByPart[index]?.length ?? 0).fill(token.shardId),
  )
  const rows = rowsByPart.flat()
  const valuesOf = (index: number): readonly ColumnValue[] => rows.map((row) => row[index] ?? null)
  const columns = section.columns.map(({ type }, index) => arrayParameter(type, valuesOf(index)))
  return [arrayLiteral('integer', shardIds), ...columns]
}

function shapeOf(names: readonly SectionName[]): Shape {
  const sections = SECTION_NAMES.filter((name) => names.includes(name))
  let last = 0
  const parameter = (): string => `$${(last += 1)}`
  const next = (type: ColumnType): string => arrayExpression(type, parameter())
  const tokens = [next('integer'), next('bigint'), next('integer')]
  const session = `${parameter()}::text`
  const counted = sections.includes('transactions')
  const counts = counted ? [next('bigint'), next('bigint')] : []
  const crossing = counted ? [next('bigint'), next('bytea')] : []
  const steps = [fenceOf(tokens, session, counts)]
  const demands: string[] = []
  for (const name of sections) {
    const { columns, write, fault }: Section = SECTIONS[name]
    const shardIds = next('integer')
    steps.push(`${name}_written AS (\n${write({ ...arrivingRows(columns, shardIds, next), sections })})`)
    if (fault !== undefined) demands.push(demandOf(name, shardIds, fault))
  }
  if (counted)
    steps.push(
      `noted AS (\n${noteOf(sections)})`,
      `counted AS (\n${INSERT_COUNTS})`,
      `crossed AS (\n${crossingOf(session, crossing)})`,
    )
  const demand = demands.length === 0 ? '' : `\nWHERE ${demands.join('\n  AND ')}`
  return { sections, text: `WITH ${steps.join(',\n')}\nSELECT fence.shard_id FROM fence${demand}` }
}

/** F3. Counted by the shards of the rows alone: the other columns would be read once more. */
function demandOf(name: SectionName, shardIds: string, fault: string): string {
  const written = `(SELECT count(*) FROM ${name}_written)`
  const arrived = `(SELECT count(*) FROM unnest(${shardIds}) AS i (shard_id) WHERE ${FENCED})`
  return `(SELECT ledger_demand(${written} = ${arrived}, '${fault}'))`
}

/** F1. */
function fenceOf(tokens: readonly string[], session: string, counts: readonly string[]): string {
  const counted = counts.length === 0 ? '' : ', completed, failed'
  return `fence AS MATERIALIZED (
SELECT s.shard_id${counted}
  FROM unnest(${[...tokens, ...counts].join(', ')}) AS t (shard_id, epoch, attempt${counted})
  JOIN shards s ON s.shard_id = t.shard_id AND s.epoch = t.epoch AND s.attempt = t.attempt
 WHERE s.session = ${session}
 ORDER BY s.shard_id
   FOR NO KEY UPDATE OF s SKIP LOCKED)`
}

function arrivingRows(
  columns: Section['columns'],
  shardIds: string,
  next: (type: ColumnType) => string,
): Pick<ArrivingRows, 'columns' | 'table'> {
  const given = ['shard_id', ...columns.map(({ name }) => name)]
  const arrays = [shardIds, ...columns.map(({ type }) => next(type))].join(', ')
  const selected = columns.map(({ name, type }) => `${elementExpression(type, `u.${name}`)} AS ${name}`).join(', ')
  const table = `(SELECT u.shard_id, ${selected} FROM unnest(${arrays}) AS u (${given.join(', ')})) AS i`
  return { columns: given, table }
}

/** Which shards it counts for is only known here. */
function crossingOf(session: string, arrays: readonly string[]): string {
  return `INSERT INTO boundary_crossings (session, number, shards, document)
SELECT ${session}, i.number, f.shards, i.document
  FROM unnest(${arrays.join(', ')}) AS i (number, document)
 CROSS JOIN (SELECT array_agg(shard_id) AS shards FROM fence) f
 WHERE f.shards IS NOT NULL`
}
