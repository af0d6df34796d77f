/**
 * Runs the sessions of a document, the blocks of `console`: each line after `$ ` is a command, and the lines below it are its
 * output. IDs, times, hashes and keys differ in each run: they are compared by their form, and a later command names those of
 * this run. Each command succeeds: one that is meant to fail ends with `; echo "exit code $?"`.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

export interface Step {
  readonly command: string
  readonly output: string
}

export interface RanStep extends Step {
  readonly code: number | null
}

/** Replaces paths and addresses of this run by those of the document. */
export type Names = readonly (readonly [here: string, inDocument: string])[]

const BLOCK = /```console\n([\s\S]*?)```/g
const VARIABLE = [
  /\b(?:txn|hld|cls)_[0-9A-Z]{26}\b/,
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/,
  /\bsha256:[0-9a-f]{64}/,
  /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/,
  // Key IDs.
  /(?<![\w-])[\w-]{43}(?![\w-])/,
  /(?<="shard_id":)\d+/,
  // Cursors.
  /(?<=--after )[\w.-]{20,}/,
]
/** Shards and cursors: their length differs, too. */
const VARYING = /^(?:\d+|[\w.-]{70,})$/
const ANY = new RegExp(VARIABLE.map(({ source }) => source).join('|'), 'g')

export function stepsOf(document: string): readonly Step[] {
  return [...document.matchAll(BLOCK)].flatMap(([, block = '']) => stepsIn(block))
}

function stepsIn(block: string): readonly Step[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const [command = '', ...output] = text.split('\n')
      return { command, output: output.join('\n').replace(/\n+$/, '\n') }
    })
}

/** Each value of this kind once, in order. */
function valuesOf(kind: RegExp, text: string): readonly string[] {
  return [...new Set(Array.from(text.matchAll(new RegExp(kind, 'g')), ([value]) => value))]
}

export function formOf(text: string): string {
  const alignedLength = (value: string): string => (VARYING.test(value) ? '' : String(value.length))
  return text.replaceAll(ANY, (value) => `<${alignedLength(value)}>`)
}

/** Runs the commands in a shell, one after another. Returns the steps with the IDs and outputs of this run. */
export function runSteps(steps: readonly Step[], run: Shell, names: Names): readonly RanStep[] {
  const known = new Map<string, string>()
  return steps.map(({ command, output }) => {
    const here = command.replaceAll(ANY, (value) => known.get(value) ?? value)
    const { code, output: raw } = run(here)
    let printed = raw
    for (const [from, to] of names) printed = printed.replaceAll(from, to)
    // By kind, because a new line of the output moves the values behind it. The first place of a value counts.
    for (const kind of VARIABLE) {
      const values = valuesOf(kind, printed)
      for (const [index, value] of valuesOf(kind, output).entries()) {
        if (!known.has(value)) known.set(value, values[index] ?? value)
      }
    }
    return { command: here, output: printed, code }
  })
}

export type Shell = (command: string) => { readonly code: number | null; readonly output: string }

/** A shell in which `ledger` is this program; standard error is part of the output. */
export function shell(program: string, cwd: string, env: Readonly<Record<string, string>>): Shell {
  return (command) => {
    const text = `ledger() { '${process.execPath}' '${program}' "$@"; }\n${command}`
    const { stdout, status } = spawnSync('/bin/sh', ['-c', `{ ${text}\n} 2>&1`], {
      cwd,
      env,
      encoding: 'utf8',
      timeout: 120_000,
    })
    return { code: status, output: stdout }
  }
}

/** Replaces the outputs in the document by those of this run. */
export function record(path: string, ran: readonly Step[]): void {
  let next = 0
  const text = readFileSync(path, 'utf8').replaceAll(BLOCK, (_, block: string) => {
    const lines = stepsIn(block).map(() => {
      const { command, output } = ran[next] ?? { command: '', output: '' }
      next += 1
      return `$ ${command}\n${output}`
    })
    return `\`\`\`console\n${lines.join('\n')}\`\`\``
  })
  writeFileSync(path, text)
}
