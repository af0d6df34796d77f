/** Rows of this run against rows of an earlier one: of a file that `--json` wrote, or the last run of each row. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { projectRoot } from '../../support/processes/cluster-process.ts'
import type { BenchOptions } from '../options.ts'
import type { Machine } from './machine.ts'
import { FIGURES, type FigureName, type Figures, type Row } from './rows.ts'

/** A row with its conditions. */
export interface KeptRow extends Row {
  /** RFC 3339. */
  readonly at: string
  readonly conditions: string
}

export interface ComparedRow {
  readonly name: string
  /** Each figure divided by the earlier one, without figures that only one run has, or whose earlier value is 0. */
  readonly ratios: Figures
  /** Conditions of the earlier run if they differ; null if they are equal. */
  readonly otherConditions: string | null
}

export const LAST_RUN = join(projectRoot(), 'dist', 'bench', 'last.json')

export function conditionsOf(options: BenchOptions, { cores, model, node }: Machine): string {
  const { connections, accounts, nodes, edges, seconds } = options
  return `${connections} connections, ${accounts} accounts, ${edges} edges, ${nodes} nodes, ${seconds} s, ${cores} x ${model}, Node.js ${node}`
}

/** Reads a file that `--json` wrote, or `LAST_RUN`. Throws if it has no rows. */
export function readRows(file: string): readonly KeptRow[] {
  const { rows } = JSON.parse(readFileSync(file, 'utf8')) as { readonly rows?: readonly KeptRow[] }
  if (!Array.isArray(rows)) throw new Error(`${file} has no rows: it was not written by this version's --json`)
  return rows as readonly KeptRow[]
}

/** Without a file: the last run, or undefined before the first. */
export function readEarlier(file: string | undefined): readonly KeptRow[] | undefined {
  if (file !== undefined) return readRows(file)
  try {
    return readRows(LAST_RUN)
  } catch {
    return undefined
  }
}

export function compare(now: readonly KeptRow[], before: readonly KeptRow[]): readonly ComparedRow[] {
  const earlier = new Map(before.map((row) => [row.name, row]))
  return now.flatMap((row) => {
    const other = earlier.get(row.name)
    if (other === undefined) return []
    const otherConditions = other.conditions === row.conditions ? null : other.conditions
    return [{ name: row.name, ratios: ratiosOf(row.figures, other.figures), otherConditions }]
  })
}

export function ratiosOf(figures: Figures, base: Figures): Figures {
  const ratioOf = (name: FigureName): readonly [FigureName, number][] => {
    const [value, by] = [figures[name], base[name]]
    return value === undefined || by === undefined || by === 0 ? [] : [[name, value / by]]
  }
  return Object.fromEntries(FIGURES.flatMap(ratioOf)) as Figures
}

/** Rows that this run did not measure stay. */
export function keepLast(rows: readonly KeptRow[]): void {
  const before = readEarlier(undefined) ?? []
  const names = new Set(rows.map(({ name }) => name))
  const kept = [...rows, ...before.filter(({ name }) => !names.has(name))]
  mkdirSync(dirname(LAST_RUN), { recursive: true })
  writeFileSync(LAST_RUN, `${JSON.stringify({ rows: kept }, null, 2)}\n`)
}
