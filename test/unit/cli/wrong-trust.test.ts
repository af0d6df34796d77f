/** A wrong file of trusted ledgers or of witnesses is reported once as a configuration error, before anything starts. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandLine } from './cli-fixture.ts'

test.for(['up', 'edge'])('ledger %s fails with one line, and has started nothing', async (command) => {
  const { cwd, run, write } = commandLine()
  write('jwks.json', { ledger_id: 'other', keys: [] })
  for (const [name, why] of [
    ['missing.json', 'cannot be read: there is no such file.'],
    ['jwks.json', 'must be {"<ledger ID>": <its jwks.json>}'],
  ] as const) {
    const { code, out, err } = await run([command], '', { LEDGER_TRUSTED_LEDGERS_FILE: name })
    expect([code, out]).toEqual([1, ''])
    const sentence = `  LEDGER_TRUSTED_LEDGERS_FILE: ${join(cwd, name)} ${why}`
    expect(err).toContain(`ledger ${command}: the configuration is wrong:\n${sentence}`)
    expect(err.trimEnd().split('\n')).toHaveLength(2)
  }
  expect(readdirSync(cwd)).toEqual(['jwks.json'])
})

test.for(['up', 'edge'])('ledger %s without usable witnesses fails with one line', async (command) => {
  const { cwd, run, write } = commandLine()
  write('policy', 'witnesses')
  for (const [name, why] of [
    ['missing', ' cannot be read: there is no such file.'],
    ['policy', ': line 1: it begins with none of log, witness, group and quorum.'],
  ] as const) {
    const { code, out, err } = await run([command], '', { LEDGER_WITNESSES: name })
    expect([code, out]).toEqual([1, ''])
    const sentence = `  LEDGER_WITNESSES: ${join(cwd, name)}${why}`
    expect(err).toBe(`ledger ${command}: the configuration is wrong:\n${sentence}\n`)
  }
  expect(readdirSync(cwd)).toEqual(['policy'])
})

test('commands that run no edge ignore the files', async () => {
  const { run } = commandLine()
  const { err } = await run(['shards'], '', {
    LEDGER_TRUSTED_LEDGERS_FILE: 'missing.json',
    LEDGER_WITNESSES: 'missing',
  })
  expect(err).toContain('there is no ledger in')
})
