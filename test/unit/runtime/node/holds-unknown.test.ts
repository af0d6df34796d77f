/** I2, I3, I12: a hold whose commits have unknown outcomes is created once, and answers each of its requests. */
import { expect, test } from 'vitest'
import { canonicalJson } from '../../../../actors/canonical-json.ts'
import { isoTimestamp } from '../../../../actors/timestamp.ts'
import { KEY, START_MS } from '../../../support/accounts.ts'
import { answersOf, applied, credit, hosting, item, kinds, register } from '../../../support/shard-hosting.ts'

const PAYLOAD = canonicalJson({
  account_id: 'a',
  to_account_id: 'b',
  amount: '4',
  expires_at: isoTimestamp(START_MS + 3_600_000),
  idempotency_key: 'once',
})
const CREATE = { kind: 'create_hold', payload: PAYLOAD, signature: `by ${KEY.publicKey}` } as const

type Fate = 'applied' | 'not applied'

/** The n-th commit after the first request, from 0, is not heard of. */
async function created(unheardAt: number, fate: Fate) {
  const hosted = hosting([0, 1])
  const { clock, control, keep, rows, verdicts, send } = hosted
  send(item(0, 'a', register), item(1, 'b', register))
  await clock.pass(20)
  send(item(0, 'a', credit('a', 'funds', undefined, '10')))
  await clock.pass(20)
  verdicts.length = 0
  let commits = 0
  control.commit = (batch) => {
    commits += 1
    if (commits - 1 !== unheardAt) return applied(batch)
    if (fate === 'applied') keep(batch)
    return { kind: 'unknown', detail: 'no answer' }
  }
  send(item(0, 'a', CREATE))
  await clock.pass(3)
  send(item(0, 'a', CREATE))
  await clock.pass(20_000)
  return { verdicts, commits, account: rows.account({ shardId: 0, accountId: 'a' }) }
}

test('D7, I12: at whichever of its commits, it is created once, and both requests are answered', async () => {
  const { commits: most } = await created(-1, 'applied')
  expect(most).toBeGreaterThan(2)
  for (let unheardAt = 0; unheardAt < most; unheardAt += 1) {
    for (const fate of ['applied', 'not applied'] as const) {
      const { verdicts, account } = await created(unheardAt, fate)
      const at = `commit ${unheardAt}, ${fate}`
      expect([at, kinds(verdicts)]).toEqual([at, ['hold_created', 'hold_created']])
      const ids = new Set(answersOf(verdicts).map((answer) => JSON.stringify(answer).match(/hld_\w+/)?.[0]))
      expect([at, ids.size, account?.holds.size, account?.sequence]).toEqual([at, 1, 1, 2])
    }
  }
})
