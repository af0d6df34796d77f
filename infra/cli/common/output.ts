/**
 * The results of commands: tables for people, and with --json one JSON value a line for programs.
 *   O1. Standard output has nothing but results. Notes and progress go to standard error.
 *   O2. Colors only on a terminal, and not with NO_COLOR (https://no-color.org).
 */
import { styleText } from 'node:util'
import type { Command } from 'commander'
import type { CommandIo } from './command.ts'
import { shownJson, shownText } from './shown-text.ts'

export interface OutputOptions {
  readonly json?: boolean
}

export function addOutputOptions(command: Command): Command {
  return command.option('--json', 'print one JSON value a line, for programs')
}

export interface Column<Row extends object = object> {
  /** Its title, and the member of the row unless `of` is given. */
  readonly name: string
  readonly of?: (row: Row) => unknown
  /** For quantities. */
  readonly right?: boolean
}

export interface Output {
  readonly isJson: boolean
  /**
   * One thing: a line for each member that is set, below an empty line if it is not the first. With --json: `value`.
   * `shown` replaces it for people.
   */
  readonly record: (value: object, shown?: object) => void
  /** Several things: a line each below a line of titles. `none`: the note in place of an empty table. */
  readonly table: <Row extends object>(rows: readonly Row[], columns: readonly Column<Row>[], none: string) => void
  /** A sentence for people, on standard error also with --json. */
  readonly note: (text: string) => void
  /** A heading or sentence among results; nothing with --json. */
  readonly line: (text: string) => void
}

type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red'

/** Words of the API's enumerations. */
const STYLES: Readonly<Record<string, Style>> = {
  active: 'green',
  completed: 'green',
  settled: 'green',
  captured: 'green',
  pending: 'yellow',
  open: 'yellow',
  expected: 'yellow',
  settling: 'yellow',
  reverting: 'yellow',
  frozen: 'yellow',
  held: 'yellow',
  failed: 'red',
  reverted: 'red',
  closed: 'red',
  expired: 'red',
  burned: 'red',
}

export function createOutput({ json = false }: OutputOptions, io: CommandIo): Output {
  const isColored = io.terminal.output && (io.env['NO_COLOR'] ?? '') === ''
  const styled = (style: Style, text: string): string =>
    isColored ? styleText(style, text, { validateStream: false }) : text
  const styledValue = (text: string): string => {
    const style = STYLES[text.trim()]
    return style === undefined ? text : styled(style, text)
  }
  let records = 0
  const lines = (texts: readonly string[]): void => io.out(texts.map((text) => `${text}\n`).join(''))

  return {
    isJson: json,
    record: (value, shown = value) => {
      if (json) return lines([shownJson(value)])
      const members = Object.entries(shown)
        .filter(([, member]) => member !== null && member !== undefined)
        .map(([name, member]) => [shownText(name), member] as const)
      const width = Math.max(0, ...members.map(([name]) => name.length))
      records += 1
      if (records > 1) io.out('\n')
      lines(
        members.map(([name, member]) => `${styled('dim', name.padEnd(width))}  ${styledValue(textOfValue(member))}`),
      )
    },
    table: (rows, columns, none) => {
      if (json) return lines(rows.map((row) => shownJson(row)))
      if (rows.length === 0) return io.err(`${shownText(none)}\n`)
      const cells = rows.map((row) =>
        columns.map(({ name, of }) =>
          textOfValue(of === undefined ? Object.entries(row).find(([member]) => member === name)?.[1] : of(row)),
        ),
      )
      const widths = columns.map(({ name }, index) =>
        Math.max(name.length, ...cells.map((line) => lengthOf(line[index] ?? ''))),
      )
      const aligned = (line: readonly string[], style: (text: string) => string): string =>
        line
          .map((text, index) => {
            const gap = ' '.repeat(Math.max(0, (widths[index] ?? 0) - lengthOf(text)))
            if (columns[index]?.right === true) return `${gap}${style(text)}`
            return index === line.length - 1 ? style(text) : `${style(text)}${gap}`
          })
          .join('  ')
          .trimEnd()
      lines([
        aligned(
          columns.map(({ name }) => name),
          (title) => styled('bold', title),
        ),
        ...cells.map((line) => aligned(line, styledValue)),
      ])
    },
    note: (text) => io.err(`${shownText(text)}\n`),
    line: (text) => {
      if (!json) lines([shownText(text)])
    },
  }
}

/** Flat objects as `name=value`, arrays of them separated by commas, other objects as JSON; nothing for null. */
function textOfValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return shownText(value)
  if (typeof value !== 'object') return shownJson(value)
  if (!Array.isArray(value)) return flatText(value) ?? shownJson(value)
  const items: readonly unknown[] = value
  const flat = items.map((item) => (typeof item === 'object' && item !== null ? flatText(item) : undefined))
  return flat.length > 0 && flat.every((text) => text !== undefined) ? flat.join(', ') : shownJson(value)
}

/** Undefined unless every member is a string. */
function flatText(value: object): string | undefined {
  const members: readonly [string, unknown][] = Object.entries(value)
  const flat = members.flatMap(([name, member]) => (typeof member === 'string' ? [shownText(`${name}=${member}`)] : []))
  return flat.length > 0 && flat.length === members.length ? flat.join(' ') : undefined
}

/** Columns of a terminal, near enough: a wide character counts as one. */
function lengthOf(text: string): number {
  return Array.from(text).length
}
