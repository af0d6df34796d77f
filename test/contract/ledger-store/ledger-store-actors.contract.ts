/** The part of the contract that is about actors that are no accounts. Registered by `ledgerStoreContract`. */
import { describe, expect, test } from 'vitest'
import { actorKey } from '../../../actors/address.ts'
import { partWith, ROWS_START_MS } from '../../support/postgres/ledger-rows.ts'
import { type ActorState, addressOfState } from '../../../actors/actor-state.ts'
import {
  actorRows,
  endActor,
  exchangeState,
  GROUP_ID,
  groupState,
  tokenState,
} from '../../support/postgres/ledger-rows-values.ts'
import { type Scene } from './ledger-store-scene.ts'
import type { SessionUnderTest } from './ledger-store-harness.ts'

export function actorsContract(scene: Scene): void {
  const found = async (
    session: SessionUnderTest,
    shardId: number,
    state: ActorState,
  ): Promise<ActorState | undefined> => {
    const address = addressOfState(state)
    return (await scene.ask(session, { actors: [{ shardId, address }] })).actors.get(actorKey(address))
  }

  describe('actors', () => {
    test('groups, exchanges and tokens are shown as they were written last, each by its kind', async () => {
      const token = await scene.own(scene.a, 3)
      const first = [groupState(), exchangeState(), tokenState()]
      await scene.apply(scene.a, partWith(token, ...first.map((state) => actorRows(state))))
      for (const state of first) expect(await found(scene.b, 3, state)).toEqual(state)
      const then = [
        groupState({ version: 2, status: 'settled', dueAtMs: null, finishedAtMs: ROWS_START_MS + 5 }),
        exchangeState({ version: 2, offers: [] }),
        tokenState({
          version: 2,
          status: 'active',
          held: { [`${GROUP_ID} 0`]: { change: 'burn', amount: '"', clientId: 'client-a' } },
        }),
      ]
      await scene.apply(scene.a, partWith(token, ...then.map((state) => actorRows(state))))
      const answer = await scene.ask(scene.b, {
        actors: then.map((state) => ({ shardId: 3, address: addressOfState(state) })),
      })
      expect(answer.actors).toEqual(new Map(then.map((state) => [actorKey(addressOfState(state)), state])))
      expect(answer.tokens.size).toBe(0)
    })

    test('a token is told of any shard, apart from the actors asked for', async () => {
      const token = await scene.own(scene.a, 3)
      const eur = tokenState({ status: 'active' })
      await scene.apply(scene.a, partWith(token, actorRows(eur), actorRows(groupState())))
      const answer = await scene.ask(scene.b, {
        tokens: [{ shardId: 3, address: addressOfState(eur) }],
        actors: [{ shardId: 3, address: addressOfState(groupState()) }],
      })
      expect(answer.tokens).toEqual(new Map([['token eur', eur]]))
      expect([...answer.actors.keys()]).toEqual([`group ${GROUP_ID}`])
    })

    test('one that is no more is not found, and may begin again', async () => {
      const token = await scene.own(scene.a, 3)
      const exchange = exchangeState()
      await scene.apply(scene.a, partWith(token, actorRows(exchange)))
      await scene.apply(scene.a, partWith(token, endActor(exchange)))
      expect(await found(scene.b, 3, exchange)).toBeUndefined()
      await scene.apply(scene.a, partWith(token, actorRows(exchange)))
      expect(await found(scene.b, 3, exchange)).toEqual(exchange)
    })

    test('one that was made and is gone within its batch leaves nothing', async () => {
      const token = await scene.own(scene.a, 3)
      const exchange = exchangeState()
      await scene.apply(
        scene.a,
        partWith(token, { actors: [{ address: addressOfState(exchange), previousVersion: 0, state: null }] }),
      )
      expect(await found(scene.b, 3, exchange)).toBeUndefined()
    })
  })

  describe('what is due', () => {
    test('the actors of the shards asked for that are due by then, the longest due first, so many at most', async () => {
      const three = await scene.own(scene.a, 3)
      const four = await scene.own(scene.a, 4)
      const due = (id: string, dueAtMs: number | null): ActorState => groupState({ id, dueAtMs })
      const at = ROWS_START_MS
      await scene.apply(
        scene.a,
        partWith(
          three,
          actorRows(due('late', at + 30)),
          actorRows(due('first', at + 1)),
          actorRows(due('never', null)),
        ),
        partWith(four, actorRows(exchangeState({ dueAtMs: at + 20 })), actorRows(tokenState())),
      )
      const names = async (shardIds: readonly number[], untilMs: number, limit: number): Promise<string[]> => {
        const answer = await scene.run(scene.b.store.due(shardIds, untilMs, limit))
        return answer.map(({ shardId, address, dueAtMs }) => `${shardId} ${actorKey(address)} ${dueAtMs - at}`)
      }
      const [first, second, third] = ['3 group first 1', `4 exchange ${GROUP_ID} 20`, '3 group late 30']
      expect(await names([3, 4, 5], at + 30, 10)).toEqual([first, second, third])
      expect(await names([3, 4], at + 29, 10)).toEqual([first, second])
      expect(await names([4, 3], at + 30, 2)).toEqual([first, second])
      expect(await names([3], at + 30, 10)).toEqual([first, third])
      expect(await names([], at + 30, 10)).toEqual([])
      await scene.apply(scene.a, partWith(three, actorRows(groupState({ id: 'first', version: 2, dueAtMs: null }))))
      expect(await names([3], at + 30, 10)).toEqual([third])
    })
  })
}
