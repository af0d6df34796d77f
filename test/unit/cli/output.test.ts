/** The results of commands: tables for people, JSON lines for programs, and no text of strangers that moves a cursor. */
import { styleText } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type Column, createOutput, type Output } from '../../../infra/cli/common/output.ts'
import { silentIo } from './silent-io.ts'

function printed(
  print: (output: Output) => void,
  {
    json = false,
    terminal = false,
    env = {},
  }: { json?: boolean; terminal?: boolean; env?: Record<string, string> } = {},
) {
  const [out, err]: [string[], string[]] = [[], []]
  const io = silentIo({
    env,
    terminal: { input: terminal, output: terminal, error: terminal },
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
  })
  print(createOutput({ json }, io))
  return { out: out.join(''), err: err.join('') }
}

const COLUMNS: readonly Column<{ readonly metadata: object | null }>[] = [
  { name: 'token_id' },
  { name: 'balance', right: true },
  { name: 'note', of: ({ metadata }) => metadata },
]
const ROWS = [
  { token_id: 'BASE', balance: '100.5', metadata: { order: '7' } },
  { token_id: 'GOLD-LONG', balance: '7', metadata: null },
]

describe('a table', () => {
  test('is aligned, with quantities on the right', () => {
    expect(printed(({ table }) => table(ROWS, COLUMNS, 'no balances'))).toEqual({
      out: ['token_id   balance  note', 'BASE         100.5  order=7', 'GOLD-LONG        7', ''].join('\n'),
      err: '',
    })
  })

  test('is one row a line with --json, with all members', () => {
    const { out } = printed(({ table }) => table(ROWS, COLUMNS, 'no balances'), { json: true })
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(ROWS)
  })

  test('is a note on standard error if it is empty, and nothing with --json', () => {
    expect(printed(({ table }) => table([], COLUMNS, 'no balances'))).toEqual({ out: '', err: 'no balances\n' })
    expect(printed(({ table }) => table([], COLUMNS, 'no balances'), { json: true })).toEqual({ out: '', err: '' })
  })
})

test('a record has a line for each member that is set', () => {
  const value = { account_id: 'alice', status: 'active', failure: null, legs: [{ a: 1 }], sequence: 3 }
  expect(printed(({ record }) => record(value)).out).toBe(
    ['account_id  alice', 'status      active', 'legs        [{"a":1}]', 'sequence    3', ''].join('\n'),
  )
  expect(printed(({ record }) => record(value), { json: true }).out).toBe(`${JSON.stringify(value)}\n`)
})

test('objects of strings are no JSON in a record, also in an array', () => {
  const deciders = [
    { kind: 'account', id: 'bob' },
    { kind: 'token', id: 'GOLD' },
  ]
  expect(printed(({ record }) => record({ decided_by: deciders, metadata: { note: 'a' }, none: [] })).out).toBe(
    ['decided_by  kind=account id=bob, kind=token id=GOLD', 'metadata    note=a', 'none        []', ''].join('\n'),
  )
})

describe('colors', () => {
  const status = ({ record }: Output): void => record({ status: 'failed' })

  test('appear on a terminal', () => {
    expect(printed(status, { terminal: true }).out).toContain(styleText('red', 'failed', { validateStream: false }))
  })

  test('appear neither in a pipe nor with NO_COLOR nor in JSON', () => {
    expect(printed(status).out).toBe('status  failed\n')
    expect(printed(status, { terminal: true, env: { NO_COLOR: '1' } }).out).toBe('status  failed\n')
    expect(printed(status, { terminal: true, json: true }).out).toBe('{"status":"failed"}\n')
  })
})

describe('text of strangers', () => {
  const hostile = { name: 'a\u001B[2Jb\u009B31mc\u202Ed\ne' }

  test('has no control characters in a table and in a record', () => {
    const shown = String.raw`a\u{1b}[2Jb\u{9b}31mc\u{202e}d\u{a}e`
    expect(printed(({ record }) => record(hostile)).out).toBe(`name  ${shown}\n`)
    expect(printed(({ table }) => table([hostile], [{ name: 'name' }], '')).out).toBe(`name\n${shown}\n`)
  })

  test('is the same value in JSON, with its control characters escaped', () => {
    const { out } = printed(({ record }) => record(hostile), { json: true })
    expect(JSON.parse(out)).toEqual(hostile)
    expect(['\u001B', '\u009B', '\u202E'].filter((character) => out.includes(character))).toEqual([])
  })
})

test('notes and headings have no control characters, and names of members neither', () => {
  const print = ({ note, line, record, table }: Output): void => {
    note('a\u001B[2J')
    line('b\rc')
    record({ 'd\u009B': 1 })
    table([], COLUMNS, 'e\u202E')
  }
  expect(printed(print)).toEqual({ out: 'b\\u{d}c\nd\\u{9b}  1\n', err: 'a\\u{1b}[2J\ne\\u{202e}\n' })
})
