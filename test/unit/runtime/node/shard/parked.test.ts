/** I10, I12: a request that waits for a later step of its actor is answered by that step's commit, or as undecided. */
import { describe, expect, test } from 'vitest'
import { tokenAddress } from '../../../../../actors/address.ts'
import type { Message } from '../../../../../actors/message.ts'
import type { Refusal } from '../../../../../actors/refusal.ts'
import { CALLER, START_MS } from '../../../../support/accounts.ts'
import { credit, hosting, item, kinds, register, registerToken } from '../../../../support/shard-hosting.ts'
import { deliveriesBody, deliveryFrom } from '../../../../support/bodies.ts'

const GOLD = tokenAddress('GOLD')
const REFUSED: Refusal = { code: 'account_closed', detail: 'The issuer is closed.' }

/** The home of the token GOLD, whose issuer is at home elsewhere: what it says is delivered by hand. */
function registering() {
  const hosted = hosting([0])
  const { host, send } = hosted
  let number = 0
  const deliver = (message: Message) => {
    number += 1
    const envelope = { version: 1, to: GOLD, message, carries: [] }
    host.receiveDeliveries(
      deliveriesBody([deliveryFrom(1, [{ number, envelope }], { began: number })]),
      () => undefined,
    )
  }
  const ask = (key: string | null = null, client = 'client-1', deadlineMs = START_MS + 60_000) => {
    const caller = { ...CALLER, clientId: client }
    send(item(0, GOLD, registerToken('GOLD', 'b', key), { caller, deadlineMs }))
  }
  return { ...hosted, deliver, ask }
}

describe('a request without a reply here', () => {
  test('at its deadline it is undecided, and a later conclusion has no effect on it', async () => {
    const { clock, host, verdicts, ask, deliver } = registering()
    host.start()
    ask(null, 'client-1', START_MS + 5_000)
    await clock.pass(4_500)
    expect(verdicts).toEqual([])
    await clock.pass(2_000)
    expect(kinds(verdicts)).toEqual(['undecided'])
    expect(host.backlog()).toBe(0)
    deliver({ type: 'issue_prepared', refused: REFUSED })
    await clock.pass(20)
    expect(kinds(verdicts)).toEqual(['undecided'])
    host.stop()
  })

  test('when its shard is lost it is undecided', async () => {
    const { clock, host, verdicts, ask } = registering()
    ask()
    await clock.pass(20)
    host.drop(0)
    expect(kinds(verdicts)).toEqual(['undecided'])
  })
})

describe('a request that waits while an outcome becomes unknown', () => {
  test.for([{ happened: 'applied' }, { happened: 'lost' }])(
    'it waits on, and is answered once: the unknown commit was of another request, and $happened',
    async ({ happened }) => {
      const { clock, loseReply, verdicts, send, ask, deliver } = registering()
      send(item(0, 'a', register))
      ask('key')
      await clock.pass(20)
      loseReply(happened === 'applied')
      send(item(0, 'a', credit('a', 'k')))
      await clock.pass(200)
      expect(kinds(verdicts)).toEqual(['registered', 'accepted'])
      deliver({ type: 'issue_prepared', refused: null })
      deliver({ type: 'issue_credited' })
      await clock.pass(20)
      expect(kinds(verdicts)).toEqual(['registered', 'accepted', 'token_registered'])
    },
  )
})
