/**
 * The commands for daily work against a running ledger, as their guide shows them.
 * After a change of their output: LEDGER_RECORD=1 npx vitest run test/e2e/cli/cli-guide.e2e.test.ts
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandLine } from '../../unit/cli/cli-fixture.ts'
import { formOf, type RanStep, record, runSteps, shell, stepsOf } from './console-sessions.ts'
import { buildOnce, freshDirectory, LedgerUp, PROGRAM } from '../start-harness.ts'

const GUIDE = join(import.meta.dirname, '..', '..', '..', 'infra', 'cli', 'README.md')

describe('the guide of the command', () => {
  let directory: string
  let ledger: LedgerUp
  let ran: readonly RanStep[]
  const written = stepsOf(readFileSync(GUIDE, 'utf8'))

  beforeAll(async () => {
    await buildOnce()
    directory = await freshDirectory()
    const home = join(directory, 'home')
    mkdirSync(home)
    ledger = await LedgerUp.start(join(directory, '.ledger'))
    ran = runSteps(written, shell(PROGRAM, directory, { HOME: home, PATH: process.env['PATH'] ?? '' }), [
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

  test('has only commands that succeed, or show their exit code', () => {
    expect(ran.filter(({ code }) => code !== 0)).toEqual([])
    expect(ran.length).toBeGreaterThan(50)
  })

  test('shows the output of each command', () => {
    const expected = process.env['LEDGER_RECORD'] === '1' ? stepsOf(readFileSync(GUIDE, 'utf8')) : written
    expect(ran.map(({ command, output }) => [formOf(command), formOf(output)])).toEqual(
      expected.map(({ command, output }) => [formOf(command), formOf(output)]),
    )
  })

  test('each command prints JSON for programs with --json, and nothing else', async () => {
    const line = commandLine()
    const env = { HOME: join(line.cwd, 'home'), LEDGER_DATA_DIR: join(directory, '.ledger') }
    const json = async (command: string): Promise<readonly Row[]> => {
      const { code, out, err } = await line.run([...wordsOf(command), '--json'], '', env)
      expect({ command, code, err: code === 0 ? '' : err }).toEqual({ command, code: 0, err: '' })
      return out
        .split('\n')
        .filter((text) => text !== '')
        .map((text) => JSON.parse(text) as Row)
    }
    const one = async (command: string): Promise<Row> => {
      const rows = await json(command)
      expect([command, rows.length]).toEqual([command, 1])
      return rows[0] ?? {}
    }
    expect(await one('login')).toMatchObject({ profile: 'default', role: 'transactor' })
    await one('login --profile admin --client-id admin')
    expect(await json('account create carol dave')).toMatchObject([{ account_id: 'carol' }, { account_id: 'dave' }])
    expect(await one('account freeze carol --reason test --profile admin')).toMatchObject({ status: 'frozen' })
    expect(await one('account unfreeze carol --reason test --profile admin')).toMatchObject({ status: 'active' })
    const rotated = await one('account keys rotate carol')
    expect(await one('account show carol')).toMatchObject({ key_id: rotated['key_id'] })
    expect(await json('account keys list carol')).toHaveLength(2)
    expect(await one('token create TIN --issuer carol --decimals 0 --supply 100')).toMatchObject({
      total_supply: '100',
    })
    expect(await one('token show TIN')).toMatchObject({ symbol: 'TIN' })
    expect((await json('token list')).map((token) => token['token_id'])).toContain('TIN')
    for (const order of ['mint carol 10 TIN', 'burn carol 5 TIN', 'credit carol 9', 'debit carol 2']) {
      expect(await one(order)).toMatchObject({ status: 'completed' })
    }
    const transfer = await one('transfer carol dave 7 TIN --idempotency-key seven')
    expect(transfer).toMatchObject({ status: 'completed', idempotency_key: 'seven' })
    expect(await one('transfer carol dave 7 TIN --dry-run')).toMatchObject({ outcome: 'pending' })
    expect(await one(`tx show ${transfer['txn_id']}`)).toMatchObject({ to_account_id: 'dave' })
    expect(await one(`tx wait ${transfer['txn_id']}`)).toMatchObject({ status: 'completed' })
    expect(await json('tx list --account carol --token TIN --type transfer')).toHaveLength(1)
    expect(await json('tx tail --account dave --after begin --limit 1')).toMatchObject([{ account_id: 'dave' }])
    expect(await json('balance dave')).toMatchObject([{ token_id: 'TIN', balance: '7' }])
    const hold = await one('hold create carol dave 4 TIN --expires-in 12h')
    expect(await one(`hold capture ${hold['hold_id']} 1`)).toMatchObject({ status: 'completed', amount: '1' })
    expect(await json('hold list carol')).toMatchObject([{ remaining: '3' }])
    expect(await one(`hold release ${hold['hold_id']}`)).toMatchObject({ status: 'released' })
    expect(await one(`hold show ${hold['hold_id']}`)).toMatchObject({ captured: '1' })
    const { class_id: classId } = await one('nft class create Coins --issuer carol --description old')
    expect(await one(`nft class show ${classId}`)).toMatchObject({ name: 'Coins' })
    expect((await json('nft class list')).map(({ name }) => name)).toContain('Coins')
    expect(await one(`nft mint ${classId} penny`)).toMatchObject({ owner: 'carol' })
    expect(await one(`nft transfer carol dave ${classId} penny`)).toMatchObject({ status: 'completed' })
    expect(await json('nft list dave')).toMatchObject([{ instance_id: 'penny' }])
    expect(await one(`nft burn dave ${classId} penny`)).toMatchObject({ type: 'burn' })
    expect(await one(`nft show ${classId} penny`)).toMatchObject({ status: 'burned' })
    const { group_id: groupId } = await one("group create --leg 'debit carol 3 TIN' --leg 'credit dave 3 TIN'")
    expect(await json('group list dave')).toMatchObject([{ group_id: groupId }])
    for (const account of ['carol', 'dave', 'dave']) {
      expect(await json(`group sign ${groupId} ${account}`)).toMatchObject([{ leg_status: 'completed' }])
    }
    expect(await one(`group show ${groupId} --wait`)).toMatchObject({ status: 'settled' })
    const declined = await one("group create --leg 'debit carol 1 TIN' --leg 'credit dave 1 TIN'")
    expect(await one(`group decline ${declined['group_id']} dave`)).toMatchObject({ declined: true })
    const reverted = await one("group create --leg 'debit carol 1 TIN' --leg 'credit dave 1 TIN'")
    expect(await one(`group revert ${reverted['group_id']} --reason test`)).toMatchObject({ status: 'reverted' })
    expect(await one('statement dave TIN')).toMatchObject({ opening: '0', closing: '11' })
    expect((await json('verify --account dave')).every(({ ok }) => ok === true)).toBe(true)
    expect(await one('logout --profile admin')).toMatchObject({ profile: 'admin' })
  })
})

/** A JSON value that a command printed. */
type Row = Readonly<Record<string, string | boolean | null>>

/** The words of a command; those in single quotes are one. */
function wordsOf(command: string): readonly string[] {
  return [...command.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word)
}
