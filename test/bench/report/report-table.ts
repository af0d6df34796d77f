/** Measurements as columns of text: each figure of the JSON under its name there, in words, with its unit. */

export interface Column {
  readonly name: string
  readonly of: object
}

interface Figure {
  readonly label: string
  readonly text: string
  /** Figures compared with the first column: times, sizes, rates and costs, not counts. */
  readonly value?: number
}

interface Unit {
  readonly shown: string
  readonly per: number
}

const BETWEEN = '  '
/** Below it the 99.9th percentile is the longest. */
const ENOUGH_FOR_P999 = 1_000
/** For names that are unclear in words; '' adds nothing. */
const NAMES: Readonly<Record<string, string>> = {
  run: '',
  latency: 'answer',
  toFinal: 'final',
  lateness: 'sent late',
  p999Ms: 'p99.9',
  longestGapMs: 'longest without an acceptance',
  gapsByAccount: 'longest without, by account',
  cpuUs: 'CPU',
  ledgerCpuUs: 'CPU, edge + node + nats-server + postgresql',
  floorRatio: 'CPU / floor',
  cpuShare: 'processors in use',
  othersShare: 'processors used by others',
  batchSize: 'transactions per commit',
}
/** Shown elsewhere: as heads, or during the measurement. */
const LEFT_OUT: ReadonlySet<string> = new Set(['name', 'kind', 'event', 'surprises'])
const UNITS: readonly (readonly [names: RegExp, unit: Unit])[] = [
  [/Ms$/, { shown: 'ms', per: 1 }],
  [/Us$/, { shown: 'µs', per: 1 }],
  [/^walBytes$/, { shown: 'bytes', per: 1 }],
  [/(Bytes|^memory.*)$/, { shown: 'MiB', per: 1_048_576 }],
  [/(Share|^mainThreads)$/, { shown: '%', per: 0.01 }],
]
const COMPARED = /(Ms|Us|Bytes|PerSecond|Ratio|^memory.*)$/

/** A row for each figure, with ratios to the first column for compared figures. */
export function table(title: string, columns: readonly Column[], compared = true): readonly string[] {
  const figures = columns.map(({ of }) => new Map(figuresOf(of, []).map((figure) => [figure.label, figure])))
  const labels = new Set(figures.flatMap((column) => [...column.keys()]))
  const rows = [...labels].map((label) => [
    label,
    ...figures.map((column) => {
      const { text = '', value } = column.get(label) ?? {}
      const base = column === figures[0] || !compared ? undefined : figures[0]?.get(label)?.value
      return base === undefined || base === 0 || value === undefined ? text : `${text} (${(value / base).toFixed(2)})`
    }),
  ])
  return grid([title, ...columns.map(({ name }) => name)], rows)
}

/** A row for each figure. */
export function list(title: string, items: readonly Column[]): readonly string[] {
  const figures = items.map(({ of }) => new Map(figuresOf(of, []).map(({ label, text }) => [label, text])))
  const labels = [...new Set(figures.flatMap((item) => [...item.keys()]))]
  const rows = items.map(({ name }, row) => [name, ...labels.map((label) => figures[row]?.get(label) ?? '')])
  return grid([title, ...labels], rows)
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`
}

function figuresOf(value: object, path: readonly string[]): readonly Figure[] {
  const isRare = 'count' in value && 'p999Ms' in value && Number(value.count) < ENOUGH_FOR_P999
  return Object.entries(value as Readonly<Record<string, unknown>>).flatMap(([name, member]): readonly Figure[] => {
    const at = [...path, Array.isArray(value) ? nameOf(member, name) : name]
    if (member === null || member === undefined || LEFT_OUT.has(name) || (isRare && name === 'p999Ms')) return []
    if (name === 'statuses') return [{ label: labelOf(at), text: statuses(member) }]
    if (typeof member === 'number') return [figureOf(member, at)]
    if (typeof member !== 'object') return [{ label: labelOf(at), text: `${member as string | boolean}` }]
    return 'count' in member && member.count === 0 ? [] : figuresOf(member, at)
  })
}

/** The title of one of several: its name, or else its position. */
function nameOf(member: unknown, place: string): string {
  const isNamed = typeof member === 'object' && member !== null && 'name' in member && typeof member.name === 'string'
  return isNamed ? String(member.name) : place
}

function figureOf(value: number, path: readonly string[]): Figure {
  const unit = UNITS.find(([names]) => path.some((name) => names.test(name)))?.[1]
  const label = unit === undefined ? labelOf(path) : `${labelOf(path)}, ${unit.shown}`
  const text = decimal(value / (unit?.per ?? 1))
  return path.some((name) => COMPARED.test(name)) ? { label, text, value } : { label, text }
}

function labelOf(path: readonly string[]): string {
  return path
    .filter((name) => NAMES[name] !== '' && !/^[0-9]+$/.test(name))
    .map((name) => NAMES[name] ?? inWords(name))
    .join(', ')
}

function inWords(name: string): string {
  return name.replace(/(Ms|Us|Bytes)$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

function statuses(counts: unknown): string {
  return Object.entries(counts as Readonly<Record<string, number>>)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ')
}

/** Three digits or more. */
export function decimal(value: number): string {
  if (Number.isInteger(value) || value >= 100) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(value < 10 ? 2 : 1)
}

/** Rows under heads, with minimal column widths. */
export function grid(heads: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = [heads, ...rows]
  const widths = heads.map((_head, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  return all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join(BETWEEN)
      .trimEnd(),
  )
}
