/**
 * The statement that commits a batch: one, autocommit, set-based.
 *   F1. It opens with the fence, a materialised CTE that locks the rows of the shards whose epoch, attempt and session
 *       are those given, in order, and skips what is locked. It locks and does not write.
 *   F2. Every write takes only rows of shards that the fence returned. The condition is `(… IN (…)) IS TRUE`: so it
 *       stays a look-up in a hash table of the fence, never a join that a plan could turn around.
 *   F3. What was computed from an earlier state is written only on top of it: accounts, actors, changes of transactions,
 *       counters and marks. The rows written are counted, and a count other than the one asked for raises LG001 (I1b).
 * A few shapes of it, so that the common ones do not carry columns of tables that they do not touch; all are generated
 * from the description in `commit-rows.ts`.
 */
import type { CommitBatch, ShardBatch } from '../../runtime/ports/ledger-store.ts'
import { arrayExpression, arrayLiteral, arrayParameter, type ColumnType, type ColumnValue } from './array-literal.ts'
import { SECTIONS } from './commit-rows.ts'
import { type Section, SECTION_NAMES, type SectionName } from './commit-section.ts'
import { DEMANDS, FENCED, writeOf } from './commit-writes.ts'

export interface CommitStatement {
  readonly text: string
  readonly parameters: string[]
}

interface Shape {
  readonly sections: readonly SectionName[]
  readonly text: string
}

/** What credits and debits at the boundary write. */
const AT_BOUNDARY: readonly SectionName[] = [
  'changed_accounts',
  'balances',
  'audit_entries',
  'transactions',
  'boundary',
]

/** What transfers between accounts write, at the sender, at the receiver and at the sender again. */
const OF_TRANSFERS: readonly SectionName[] = [
  ...AT_BOUNDARY,
  'transaction_changes',
  'holds',
  'removed_holds',
  'outbox',
  'new_channels',
  'sent',
  'marks',
]

/** From lean to whole; a batch takes the first that has all it needs. */
const SHAPES: readonly Shape[] = [shapeOf([]), shapeOf(AT_BOUNDARY), shapeOf(OF_TRANSFERS), shapeOf(SECTION_NAMES)]

/** Throws a RangeError for a time that is none, and for a batch that no shape fits. */
export function commitStatement(batch: CommitBatch, session: string): CommitStatement {
  const parts = batch.shards
  const rows = new Map(SECTION_NAMES.map((name) => [name, parts.map((part) => SECTIONS[name].rowsOf(part))]))
  const needed = SECTION_NAMES.filter((name) => rows.get(name)?.some((ofShard) => ofShard.length > 0))
  const shape = SHAPES.find(({ sections }) => needed.every((name) => sections.includes(name)))
  if (shape === undefined) throw new RangeError(`no statement writes ${needed.join(', ')}`)
  const parameters = [...fenceParameters(parts), session]
  if (shape.sections.includes('transactions')) parameters.push(...countParameters(parts))
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
  const columnOf = (index: number): ColumnValue[] => rows.map((row) => row[index] ?? null)
  return [
    arrayLiteral('integer', shardIds),
    ...section.columns.map(({ type }, index) => arrayParameter(type, columnOf(index))),
  ]
}

function shapeOf(sections: readonly SectionName[]): Shape {
  let last = 0
  const parameter = (): string => `$${(last += 1)}`
  const next = (type: ColumnType): string => arrayExpression(type, parameter())
  const tokens = [next('integer'), next('bigint'), next('integer')]
  const session = `${parameter()}::text`
  const counted = sections.includes('transactions')
  const counts = counted ? [next('bigint'), next('bigint')] : []
  const steps = [fenceOf(tokens, session, counts)]
  const demands: string[] = []
  for (const name of sections) {
    const arriving = arrivingRows(SECTIONS[name], next)
    steps.push(`${name}_written AS (\n${writeOf(name, arriving, session)})`)
    const broken = DEMANDS[name]
    if (broken !== undefined) demands.push(demandOf(name, arriving, broken))
  }
  if (counted) steps.push(`counted AS (\n${countOf(session)})`)
  const demand = demands.length === 0 ? '' : `\nWHERE ${demands.join('\n  AND ')}`
  return { sections, text: `WITH ${steps.join(',\n')}\nSELECT fence.shard_id FROM fence${demand}` }
}

/** F3. */
function demandOf(name: SectionName, arriving: string, broken: string): string {
  const written = `(SELECT count(*) FROM ${name}_written)`
  return `(SELECT ledger_demand(${written} = (SELECT count(*) FROM ${arriving} WHERE ${FENCED}), '${broken}'))`
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

function arrivingRows(section: Section, next: (type: ColumnType) => string): string {
  const columns = ['shard_id', ...section.columns.map(({ name }) => name)]
  const types: readonly ColumnType[] = ['integer', ...section.columns.map(({ type }) => type)]
  return `unnest(${types.map(next).join(', ')}) AS i (${columns.join(', ')})`
}

function countOf(session: string): string {
  return `UPDATE sessions
   SET completed_count = completed_count + (SELECT coalesce(sum(completed), 0) FROM fence),
       failed_count = failed_count + (SELECT coalesce(sum(failed), 0) FROM fence)
 WHERE session = ${session}`
}
