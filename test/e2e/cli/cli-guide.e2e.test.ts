/**
 * The commands for daily work against a running ledger, as their guide shows them.
 * After a change of their output: LEDGER_RECORD=1 npx vitest run test/e2e/cli/cli-guide.e2e.test.ts
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formOf, record, runSteps, shell, type Step, stepsOf } from './console-sessions.ts'
import { buildOnce, freshDirectory, LedgerUp, PROGRAM } from '../start-harness.ts'

const GUIDE = join(import.meta.dirname, '..', '..', '..', 'infra', 'cli', 'README.md')

describe('the guide of the command', () => {
  let directory: string
  let ledger: LedgerUp
  let ran: readonly Step[]
  let run: (command: string) => string
  const written = stepsOf(readFileSync(GUIDE, 'utf8'))

  beforeAll(async () => {
    await buildOnce()
    directory = await freshDirectory()
    const home = join(directory, 'home')
    mkdirSync(home)
    ledger = await LedgerUp.start(join(directory, '.ledger'))
    run = shell(PROGRAM, directory, { HOME: home, PATH: process.env['PATH'] ?? '' })
    ran = runSteps(written, run, [
      [home, '/home/me'],
      [directory, '/home/me/ledger'],
      [ledger.address, 'http://127.0.0.1:8080'],
    ])
    if (process.env['LEDGER_RECORD'] === '1') record(GUIDE, ran)
  })

  afterAll(async () => {
    await ledger.destroy()
    await rm(directory, { recursive: true, force: true })
  })

  test('shows the output of each command', () => {
    const expected = process.env['LEDGER_RECORD'] === '1' ? stepsOf(readFileSync(GUIDE, 'utf8')) : written
    expect(ran.map(({ command, output }) => [command, formOf(output)])).toEqual(
      expected.map(({ command, output }) => [command, formOf(output)]),
    )
  })
})
