/** Goal: I10, I12: a request that a later step of its actor answers is answered by that step's commit, or as undecided. */
import { describe, expect, test } from 'vitest'
import { tokenAddress } from '../../../actors/address.ts'
import type { Message, Refused } from '../../../actors/message.ts'
import type { ItemVerdict } from '../../../runtime/messages.ts'
import type { CommitBatch } from '../../../runtime/ports/ledger-store.ts'
import { CALLER, START_MS } from '../../support/accounts.ts'
import {
  actorIn,
  answersOf,
  applied,
  credit,
  hosting,
  item,
  kinds,
  register,
  registerToken,
} from '../../support/shard-hosting.ts'
import { deliveriesBody } from '../../support/bodies.ts'

const GOLD = tokenAddress('GOLD')
const REFUSED: Refused = { code: 'account_closed', detail: 'The issuer is closed.' }

/** The home of the token GOLD, whose issuer is at home elsewhere: what it says is delivered by hand. */
function registering() {
  const hosted = hosting([0])
  const { host, clock, control, send } = hosted
  let number = 0
  const deliver = (message: Message) => {
    number += 1
    const envelope = { to: GOLD, message, carries: [] }
    const delivery = {
      source: 1,
      target: 0,
      epoch: 1,
      attempt: 0,
      began: number,
      acknowledged: 0,
      messages: [{ number, envelope }],
    }
    host.receiveDeliveries(deliveriesBody([delivery]), () => undefined)
  }
  const ask = (key: string | null = null, client = 'client-1', deadlineMs = START_MS + 60_000) => {
    const caller = { ...CALLER, clientId: client }
    send(item(0, GOLD, registerToken('GOLD', 'b', key), { caller, deadlineMs }))
  }
  /** Holds a commit until it is let go, so that what comes meanwhile gathers in one batch. */
  const gather = async (): Promise<() => void> => {
    let commit: () => void = () => undefined
    control.commit = (batch) => new Promise((resolve) => (commit = () => resolve(applied(batch))))
    send(item(0, 'a9', register))
    await clock.pass(5)
    return () => {
      control.commit = applied
      commit()
    }
  }
  return { ...hosted, deliver, ask, gather }
}

const rest = (verdicts: readonly ItemVerdict[]) => kinds(verdicts).filter((kind) => kind !== 'registered')

describe('a request that is answered later', () => {
  test('its answer comes with the batch that concludes it, and not before that is committed', async () => {
    const { clock, control, rows, host, verdicts, ask, deliver } = registering()
    ask()
    await clock.pass(20)
    deliver({ type: 'issue_prepared', refused: null })
    await clock.pass(20)
    expect(verdicts).toEqual([])
    let commit: () => void = () => undefined
    control.commit = (batch) => new Promise((resolve) => (commit = () => resolve(applied(batch))))
    deliver({ type: 'issue_credited' })
    await clock.pass(100)
    expect(verdicts).toEqual([])
    commit()
    await clock.pass(10)
    expect(answersOf(verdicts)).toMatchObject([
      { kind: 'token_registered', token: { tokenId: 'GOLD' }, replayed: false },
    ])
    expect(actorIn(rows, GOLD)).toMatchObject({ status: 'active' })
    expect(host.backlog()).toBe(0)
  })

  test('a repeat waits with it, and both are told; whoever comes for something else is not kept', async () => {
    const { clock, verdicts, ask, deliver } = registering()
    ask('key')
    await clock.pass(20)
    ask('key')
    ask('key', 'client-2')
    await clock.pass(20)
    expect(verdicts.map(({ requestId }) => requestId)).toEqual(['request-3'])
    deliver({ type: 'issue_prepared', refused: REFUSED })
    await clock.pass(20)
    expect(kinds(verdicts)).toEqual(['token_exists', 'account_closed', 'account_closed'])
  })

  test('what is concluded is not told to who began anew after it, in the very same batch', async () => {
    const { clock, rows, verdicts, ask, deliver, gather } = registering()
    ask(null, 'client-1')
    await clock.pass(20)
    const letGo = await gather()
    deliver({ type: 'issue_prepared', refused: REFUSED })
    ask(null, 'client-2')
    await clock.pass(5)
    letGo()
    await clock.pass(20)
    expect(actorIn(rows, GOLD)).toMatchObject({ status: 'preparing', clientId: 'client-2' })
    expect(rest(verdicts)).toEqual(['account_closed'])
    deliver({ type: 'issue_prepared', refused: null })
    deliver({ type: 'issue_credited' })
    await clock.pass(20)
    expect(rest(verdicts)).toEqual(['account_closed', 'token_registered'])
    expect(actorIn(rows, GOLD)).toMatchObject({ status: 'active', clientId: 'client-2' })
  })
})

describe('a request that nobody will answer here', () => {
  test('at its deadline it is undecided, and what concludes it later finds nobody', async () => {
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

  test('when its shard is drained it is undecided, and does not hold the shard', async () => {
    const { clock, host, verdicts, ask } = registering()
    ask()
    await clock.pass(20)
    const drained = host.drain(0, 1_000)
    await clock.pass(20)
    expect(await drained).toEqual({ shardId: 0, epoch: 1, attempt: 0 })
    expect(kinds(verdicts)).toEqual(['undecided'])
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
    'it waits on, and is answered once: the unknown commit was of somebody else, and $happened',
    async ({ happened }) => {
      const { clock, control, keep, verdicts, send, ask, deliver } = registering()
      send(item(0, 'a', register))
      ask('key')
      await clock.pass(20)
      control.commit = (batch: CommitBatch) => {
        if (happened === 'applied') keep(batch)
        control.commit = applied
        return { kind: 'unknown', detail: 'no answer' }
      }
      send(item(0, 'a', credit('a', 'k')))
      await clock.pass(200)
      expect(kinds(verdicts)).toEqual(['registered', 'accepted'])
      deliver({ type: 'issue_prepared', refused: null })
      deliver({ type: 'issue_credited' })
      await clock.pass(20)
      expect(kinds(verdicts)).toEqual(['registered', 'accepted', 'token_registered'])
    },
  )

  test('it is answered though the commit that concluded it was applied unheard', async () => {
    const { clock, control, keep, host, verdicts, ask, deliver } = registering()
    ask('key')
    await clock.pass(20)
    deliver({ type: 'issue_prepared', refused: null })
    await clock.pass(20)
    control.commit = (batch: CommitBatch) => {
      keep(batch)
      control.commit = applied
      return { kind: 'unknown', detail: 'no answer' }
    }
    deliver({ type: 'issue_credited' })
    await clock.pass(200)
    expect(kinds(verdicts)).toEqual(['token_registered'])
    expect(host.backlog()).toBe(0)
  })
})
