/** The part of the contract that is about what a batch may not write (D1, D2, D6), of rows of every kind at once. Registered by `ledgerStoreContract`. */
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { instanceAddress } from '../../../actors/address.ts'
import type { ShardBatch, ShardToken } from '../../../runtime/ports/ledger-store.ts'
import {
  creditAccount,
  openAccount,
  partOf,
  partWith,
  rotateAccount,
  type Rows,
} from '../../support/postgres/ledger-rows.ts'
import {
  classState,
  eventRows,
  historyOf,
  instanceState,
  NFT_ID,
  ownedBy,
} from '../../support/postgres/ledger-rows-nfts.ts'
import { type ActorState, addressOfState } from '../../../actors/actor-state.ts'
import {
  actorRows,
  concludeTransfer,
  endActor,
  exchangeState,
  groupState,
  legHold,
  pendTransfer,
  sendRows,
  tokenState,
} from '../../support/postgres/ledger-rows-values.ts'
import { committed, type Scene } from './ledger-store-scene.ts'

const REGISTERED = classState({ status: 'active' })
const MINTED = ownedBy(instanceState(), 'alice')
const EVENTS = historyOf(['alice', 'bob'])
const ACCOUNTS = ['alice', 'dan', 'eve', 'carol'].map((accountId) => ({ shardId: 3, accountId }))
const ACTORS: readonly ActorState[] = [groupState(), exchangeState(), tokenState(), MINTED, REGISTERED]

export function guardsContract(scene: Scene): void {
  /** Shard 3 has rows of each kind: alice has a completed and a pending transfer. bob is in shard 4. */
  async function lived() {
    const [token, other] = [await scene.own(scene.a, 3), await scene.own(scene.a, 4)]
    const bob = await scene.opened(scene.a, other, 'bob')
    const [alice, dan] = [await scene.opened(scene.a, token), await scene.opened(scene.a, token, 'dan')]
    const eve = await scene.opened(scene.a, token, 'eve')
    const credited = creditAccount(dan, 'k1')
    const funded = creditAccount(alice, 'k1', '9')
    const first = pendTransfer(funded.account, 'first')
    await scene.apply(scene.a, partOf(token, funded, credited))
    await scene.apply(scene.a, partOf(token, first))
    const ended = txnIdOf(first.rows)
    const concluded = concludeTransfer(first.account, ended)
    const compensated = concluded.rows.transactionChanges.map((change) => ({ ...change, compensatedBy: 'txn_back' }))
    await scene.apply(scene.a, partWith(token, { ...concluded.rows, transactionChanges: compensated }))
    const second = pendTransfer(concluded.account, 'second')
    const things = [groupState(), exchangeState(), REGISTERED, instanceState()].map((state) => actorRows(state))
    const messages = [sendRows(2, 1, 4), marks([5, 3])]
    await scene.apply(scene.a, partWith(token, second.rows, ...things, ...messages))
    const events = eventRows(NFT_ID, ...EVENTS.slice(0, 1))
    await scene.apply(scene.a, partWith(token, actorRows(groupState({ version: 2 })), actorRows(MINTED), events))
    const pending = txnIdOf(second.rows)
    return { token, other, bob, alice: second.account, dan: credited.account, eve, credited, concluded, ended, pending }
  }

  /** Everything that shard 3 shows, part by part. */
  async function seen(txnIds: readonly string[]) {
    const key = (accountId: string, operation: 'transaction' | 'key_rotation') =>
      ({ shardId: 3, accountId, operation, idempotencyKey: 'k2' }) as const
    const actors = ACTORS.map((state) => ({ shardId: 3, address: addressOfState(state) }))
    const answer = await scene.ask(scene.b, {
      accounts: ACCOUNTS,
      keys: [key('dan', 'transaction'), key('eve', 'key_rotation')],
      transactions: txnIds.map((txnId) => ({ shardId: 3, txnId })),
      actors,
      instances: [{ shardId: 3, address: instanceAddress(NFT_ID) }],
    })
    const start = await scene.run(scene.b.store.openShard(3))
    const [events, totals] = [await scene.run(scene.harness.nftEvents(3, NFT_ID)), await scene.harness.boundaryTotals()]
    const ofActors = actors.map(({ address }) => [address, answer.actors.get(`${address.kind} ${address.id}`)])
    const ofAccounts = ACCOUNTS.map(({ accountId }) => [accountId, answer.accounts.get(`3 ${accountId}`)])
    return [...ofAccounts, ...ofActors, answer.keys, answer.transactions, events, totals, ...Object.entries(start)]
  }

  test('D1: of a shard that was stolen nothing of any kind is written, and the others are committed', async () => {
    const { token, other, bob, alice, dan, eve, pending, ended } = await lived()
    const changes = [concludeTransfer(alice, pending), creditAccount(dan, 'k2'), rotateAccount(eve, 'k2')]
    const held = { holds: [{ accountId: 'alice', holdId: 'a leg', hold: legHold() }] }
    const next: readonly Partial<Rows>[] = [
      ...[...changes, openAccount(3, 'carol')].map(({ rows }) => rows),
      held,
      actorRows(groupState({ version: 3 })),
      endActor(exchangeState()),
      actorRows(tokenState()),
      actorRows(ownedBy(MINTED, 'bob')),
      actorRows(classState({ status: 'active', version: 2 })),
      eventRows(NFT_ID, ...EVENTS.slice(1)),
      sendRows(2, 5, 5),
      sendRows(6, 1, 1),
      marks([5, 4], [6, 1]),
      { boundary: [{ tokenId: 'EUR', credited: '1', debited: '0' }] },
    ]
    const whole = (by: ShardToken): ShardBatch => partWith(by, ...next)
    const theirs = await scene.own(scene.b, 3, token.epoch)
    const before = await seen([pending, ended])
    expect(await scene.commit(scene.a, whole(token), partOf(other, creditAccount(bob, 'k1')))).toEqual(committed(4))
    expect(await seen([pending, ended])).toEqual(before)
    expect((await scene.stateOf(scene.b, bob))?.version).toBe(bob.version + 1)
    await scene.apply(scene.b, whole(theirs))
    const after = await seen([pending, ended])
    expect(after.filter((part, index) => isDeepStrictEqual(part, before[index]))).toEqual([])
  })

  describe('D2, D6: what does not fit what is there', () => {
    test('fails its whole batch, the parts of other shards included', async () => {
      const { token, other, bob, alice, dan, credited, concluded, ended, pending } = await lived()
      const again = creditAccount(dan, 'k2').rows
      const [finished] = concluded.rows.transactionChanges.map((change) => change.finished)
      const [first, second] = EVENTS
      if (finished === undefined || first === undefined || second === undefined) throw new Error('it was made so')
      const gap = sendRows(2, 5, 8)
      const change = (txnId: string, end: typeof finished, compensatedBy: string | null): Partial<Rows> => ({
        transactionChanges: [{ txnId, finished: end, compensatedBy }],
      })
      const broken: Readonly<Record<string, Partial<Rows>>> = {
        'an account on an older version': creditAccount(concluded.account, 'k2').rows,
        'an account on a version to come': creditAccount({ ...alice, version: alice.version + 1 }, 'k2').rows,
        'a missing account': creditAccount(openAccount(3, 'unknown').account, 'k2').rows,
        'an account that is there, made anew': openAccount(3, 'alice').rows,
        'an entry again': { ...again, entries: openAccount(3, 'dan').rows.entries },
        'a transaction again': { ...again, transactions: credited.rows.transactions },
        'a used key again': creditAccount(dan, 'k1').rows,
        'a used key again, of a transaction that is pending': pendTransfer(dan, 'k1').rows,
        'the end of a transaction again': change(ended, finished, null),
        'a compensation again': change(ended, null, 'txn_again'),
        'the end of a transaction that is not there': change('txn_absent', finished, null),
        'a compensation of one that is not there': change('txn_absent', null, 'txn_again'),
        'an actor that is there, made anew': actorRows(groupState()),
        'an actor on its own version': actorRows(groupState({ version: 2, status: 'open' })),
        'an actor on a version to come': actorRows(groupState({ version: 4, status: 'open' })),
        'an actor that is not there': actorRows(tokenState({ version: 2 })),
        'the end of an older version': endActor(groupState()),
        'the end of a version to come': endActor(groupState({ version: 3 })),
        'the end of what is not there': endActor(tokenState()),
        'a class that is there, made anew': actorRows(REGISTERED),
        'a class on a version to come': actorRows(classState({ version: 3 })),
        'an NFT that is there, minted anew': actorRows(instanceState()),
        'an NFT on its own version': actorRows({ ...MINTED, owner: 'mallory' }),
        'an NFT on a version to come': actorRows(ownedBy(ownedBy(MINTED, 'mallory'), 'mallory')),
        'an event again': eventRows(NFT_ID, first),
        'another event in its place': eventRows(NFT_ID, { ...first, to: 'mallory' }),
        'an event twice': eventRows(NFT_ID, second, second),
        'an event before the first': eventRows(NFT_ID, { ...first, number: -1 }),
        'a message behind the next': sendRows(2, 6, 6),
        'a message again': sendRows(2, 4, 5),
        'messages from the beginning': sendRows(2, 1, 1),
        'a second message first': sendRows(6, 2, 2),
        'messages with a gap': { ...gap, outbox: gap.outbox?.filter(({ number }) => number !== 6) ?? [] },
        'a mark again': marks([5, 3], [6, 1]),
        'a mark that goes back': marks([5, 1], [6, 1]),
      }
      const before = await seen([pending, ended])
      for (const [what, rows] of Object.entries(broken)) {
        const verdict = await scene.commit(scene.a, partWith(token, rows), partOf(other, creditAccount(bob, 'k1')))
        expect([what, verdict]).toEqual([what, expect.objectContaining({ kind: 'failed', cause: 'invariant' })])
      }
      expect(await seen([pending, ended])).toEqual(before)
      expect(await scene.stateOf(scene.b, bob)).toEqual(bob)
      const fitting = partWith(token, again, sendRows(2, 5, 5), marks([5, 4], [6, 1]))
      await scene.apply(scene.a, fitting, partOf(other, creditAccount(bob, 'k1')))
    })
  })
}

function txnIdOf({ transactions }: Rows): string {
  return transactions[0]?.transaction.txnId ?? ''
}

function marks(...numbers: readonly (readonly [source: number, mark: number])[]): Pick<Rows, 'marks'> {
  return { marks: numbers.map(([source, mark]) => ({ source, mark })) }
}
