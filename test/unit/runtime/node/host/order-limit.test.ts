/** R1 to R3: the rate limit of an account's orders at the owner of its shard. */
import { expect, test } from 'vitest'
import { answersOf, credit, hosting, register } from '../../../../support/shard-hosting.ts'

const RATE = { perSecond: 1, burst: 2 }
const LIMITED = {
  kind: 'refused',
  code: 'account_rate_limited',
  detail: 'The account may have 1 orders a second, 2 at once.',
  field: null,
  limit: { perSecond: 1, burst: 2, retryAfterMs: expect.closeTo(990, -1) },
}

async function limitedAccounts() {
  const host = hosting([0, 1], { accountRate: RATE })
  const { clock, verdicts, item, send } = host
  send(item(0, 'a', register), item(1, 'b', register))
  await clock.pass(10)
  /** The answers to orders of the account under these keys, each with its own signature. */
  const order = async (account: string, keys: readonly string[], signature?: string) => {
    const before = answersOf(verdicts).length
    const shard = account === 'b' ? 1 : 0
    send(...keys.map((key) => item(shard, account, credit(account, key, signature, '5'))))
    await clock.pass(10)
    return answersOf(verdicts).slice(before)
  }
  return { ...host, order }
}

test('R1: orders beyond the rate are refused, replays get their reply, and other accounts are not limited by it', async () => {
  const { clock, order } = await limitedAccounts()
  const kinds = async (account: string, keys: readonly string[]) =>
    (await order(account, keys)).map((answer) => {
      if (typeof answer === 'string') return answer
      return answer.kind === 'refused' ? answer.code : answer.kind
    })
  expect(await kinds('a', ['k1', 'k2', 'k3'])).toEqual(['accepted', 'accepted', 'account_rate_limited'])
  expect(await kinds('a', ['k1'])).toEqual(['accepted'])
  expect(await kinds('b', ['k1', 'k2'])).toEqual(['accepted', 'accepted'])
  await clock.pass(1_000)
  expect(await kinds('a', ['k3', 'k4'])).toEqual(['accepted', 'account_rate_limited'])
})

test('R1: an order with a wrong signature uses up nothing', async () => {
  const { order } = await limitedAccounts()
  const forged = await order('a', ['f1', 'f2', 'f3'], 'by somebody')
  expect(forged).toEqual(forged.map(() => expect.objectContaining({ code: 'signature_mismatch' })))
  expect(await order('a', ['k1', 'k2'])).toMatchObject([{ kind: 'accepted' }, { kind: 'accepted' }])
})

test('R2: an order whose batch is stepped again counts once', async () => {
  const { control, order } = await limitedAccounts()
  const { commit } = control
  control.commit = () => {
    control.commit = commit
    return { kind: 'failed', cause: 'data', detail: 'once' }
  }
  expect(await order('a', ['k1', 'k2'])).toMatchObject([{ kind: 'accepted' }, { kind: 'accepted' }])
})

test('R3: a refused order writes no row, and says when to come again', async () => {
  const { batches, order } = await limitedAccounts()
  await order('a', ['k1', 'k2'])
  const before = batches.length
  expect(await order('a', ['k3'])).toEqual([LIMITED])
  const written = batches.slice(before).flatMap(({ shards }) => shards.flatMap(({ transactions }) => transactions))
  expect(written).toEqual([])
})
