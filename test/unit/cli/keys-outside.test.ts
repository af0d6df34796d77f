import { expect, test } from 'vitest'
import { commandLine } from './cli-fixture.ts'

test.for([
  ['/no/such/program', 'not_started. There is no such program: correct LEDGER_KEY_COMMAND.'],
  ['false', 'exited. Run LEDGER_KEY_COMMAND by hand: its errors are not shown here.'],
  ['cat', 'malformed_reply. LEDGER_KEY_COMMAND does not speak the protocol of key programs (infra/keys/README.md).'],
] as const)('the failure of the key program %s is told once, with its remedy', async ([program, told]) => {
  const env = { LEDGER_KEY_COMMAND: program, LEDGER_MASTER_KEY: 'outside:k' }
  const { code, out, err } = await commandLine().run(['keys', 'part-key', '--part', 'node'], '', env)
  const message = `A master key outside cannot be used: the key program failed: ${told}`
  expect([code, out, err]).toEqual([1, '', `ledger keys part-key: ${message}\n`])
})
