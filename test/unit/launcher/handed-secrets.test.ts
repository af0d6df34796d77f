/** A part reads secrets from the launcher's pipe besides its environment, and never prints them. */
import { expect, test } from 'vitest'
import type { CommandIo } from '../../../infra/cli/common/command.ts'
import { HANDED_BY_INPUT, textOfSecrets, withHandedSecrets } from '../../../infra/launcher/handed-secrets.ts'
import { silentIo } from '../cli/silent-io.ts'

function ioWith(env: CommandIo['env'], input?: string): CommandIo {
  return silentIo(input === undefined ? { env } : { env, readInput: () => Promise.resolve(Buffer.from(input)) })
}

test('they are added to the environment’s variables, and take precedence', async () => {
  const input = textOfSecrets({ LEDGER_NATS_URL: 'nats://u:p@h', LEDGER_PORT: '2' })
  const { env } = await withHandedSecrets(ioWith({ ...HANDED_BY_INPUT, PATH: '/bin', LEDGER_PORT: '1' }, input))
  expect(env).toEqual({ PATH: '/bin', LEDGER_PORT: '2', LEDGER_NATS_URL: 'nats://u:p@h' })
})

test('they may be empty', async () => {
  expect((await withHandedSecrets(ioWith(HANDED_BY_INPUT, textOfSecrets({})))).env).toEqual({})
})

test('without a launcher nothing is read', async () => {
  const io = ioWith({ PATH: '/bin' })
  expect(await withHandedSecrets(io)).toBe(io)
})

test.for(['', '{"LEDGER_PART_KEY": a secret', '["a secret"]', '{"LEDGER_PART_KEY": 1}'])(
  'a malformed set of secrets ends the process, and is not quoted: %s',
  async (input) => {
    const reading = withHandedSecrets(ioWith(HANDED_BY_INPUT, input))
    await expect(reading).rejects.toThrow('the input is not a set of secrets')
    await expect(reading).rejects.not.toThrow('a secret')
  },
)
