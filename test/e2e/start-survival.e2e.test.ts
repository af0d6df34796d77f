/** Goal: a part that is killed comes back within seconds, and nothing that was acknowledged is lost or applied twice. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildOnce, freshDirectory, isRunning, LedgerUp, until, type Client, type Signer } from './start-harness.ts'

describe('kill -9', () => {
  let ledger: LedgerUp
  let client: Client
  let alice: Signer
  let acknowledged = 0
  let asked = 0

  /** The same submission until it is acknowledged, as a client would: same key, so it counts once. */
  async function credit(): Promise<void> {
    asked += 1
    const key = `credit-${asked}`
    await until(`${key} is acknowledged`, async () =>
      (await client.credit(alice, '1', key)).status === 202 ? true : undefined,
    )
    acknowledged += 1
  }

  beforeAll(async () => {
    await buildOnce()
    ledger = await LedgerUp.start(await freshDirectory())
    client = await ledger.client()
    alice = await client.open('alice')
  })

  afterAll(() => ledger.destroy())

  test.each(['node-1', 'edge-1', 'auditor-1', 'nats-server', 'postgres'] as const)(
    'of %s: it is started again, and every acknowledged credit is applied once',
    async (part) => {
      const before = ledger.pidOf(part)
      for (let count = 0; count < 5; count += 1) await credit()
      const credits = Promise.all([credit(), credit(), credit()])
      process.kill(before, 'SIGKILL')
      await credits
      const after = await until(`${part} runs again`, () => {
        const pid = readable(() => ledger.pidOf(part))
        return pid !== undefined && pid !== before && isRunning(pid) ? pid : undefined
      })
      expect(after).not.toBe(before)
      await credit()
      await until('the balance is what was acknowledged', async () =>
        (await client.balance('alice')) === String(acknowledged) ? true : undefined,
      )
    },
  )

  test('of the launcher: its nodes and edges end, and the next start takes over what is left', async () => {
    const children = (['node-1', 'edge-1'] as const).map((part) => ledger.pidOf(part))
    ledger.signal('SIGKILL')
    await ledger.finished
    await until('nodes and edges have ended', () => (children.some(isRunning) ? undefined : true))
    ledger = await LedgerUp.start(ledger.dataDir)
    client = await ledger.client()
    expect(await client.balance('alice')).toBe(String(acknowledged))
    await credit()
    expect(await client.balance('alice')).toBe(String(acknowledged))
  })
})

function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
