/** Each command for daily work has --json, a profile, examples in its help, and a session in the guide. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commandLine } from './cli-fixture.ts'

const { run } = commandLine()
const DAILY = [
  'account',
  'balance',
  'transfer',
  'credit',
  'debit',
  'mint',
  'burn',
  'token',
  'nft',
  'group',
  'hold',
  'statement',
  'tx',
  'verify',
]
const guide = readFileSync('infra/cli/README.md', 'utf8')

/** The paths of all commands without subcommands, from the lines of the completion script. */
async function leaves(): Promise<readonly string[]> {
  const { out } = await run(['completion', 'bash'])
  const nodes = [...out.matchAll(/^ {4}'([a-z ]+)'\) words='([^']*)' options=/gm)]
  return nodes
    .map(([, path = '']) => path)
    .filter((path) => !nodes.some(([, other = '']) => other.startsWith(`${path} `)))
}

test('all of them are known', async () => {
  const found = await leaves()
  expect(DAILY.filter((name) => !found.some((path) => path === name || path.startsWith(`${name} `)))).toEqual([])
  expect(found).toContain('account keys rotate')
})

test('their help has a profile, --json and examples that begin with the command', async () => {
  const daily = (await leaves()).filter((path) => DAILY.includes(path.split(' ')[0] ?? ''))
  for (const path of daily) {
    const { code, out } = await run([...path.split(' '), '--help'])
    expect([path, code]).toEqual([path, 0])
    expect(out).toMatch(/^ {2}--json /m)
    expect(out).toMatch(/^ {2}--profile /m)
    expect(out).toContain(`\nExamples:\n  ledger ${path} `.trimEnd())
  }
})

test('the guide shows each of them', async () => {
  const daily = [...(await leaves()).filter((path) => DAILY.includes(path.split(' ')[0] ?? '')), 'login', 'logout']
  expect(daily.filter((path) => !guide.includes(`\n$ ledger ${path}`))).toEqual([])
})
