/** The part of the contract that is about NFT classes and instances. Registered by `ledgerStoreContract`. */
import { describe, expect, test } from 'vitest'
import type { AccountState } from '../../../actors/account/state.ts'
import { actorKey, instanceAddress } from '../../../actors/address.ts'
import { instanceViewOf } from '../../../actors/nft-instance/state.ts'
import { type HomedActor, keyAddressOf } from '../../../runtime/ports/ledger-store.ts'
import { nextTxnId, partOf, partWith, transactionOf, writeOf } from '../../support/postgres/ledger-rows.ts'
import {
  CLASS_ID,
  classIdOf,
  classState,
  eventRows,
  historyOf,
  instanceState,
  NFT_ID,
  ownedBy,
} from '../../support/postgres/ledger-rows-nfts.ts'
import { type ActorState, addressOfState } from '../../../actors/actor-state.ts'
import { actorRows, endActor, keepHolds, legHold } from '../../support/postgres/ledger-rows-values.ts'
import { type Scene } from './ledger-store-scene.ts'

const REGISTERED = classState({ status: 'active' })
const MINTED = ownedBy(instanceState(), 'alice')

export function nftsContract(scene: Scene): void {
  const found = async (shardId: number, state: ActorState): Promise<ActorState | undefined> => {
    const address = addressOfState(state)
    return (await scene.ask(scene.b, { actors: [{ shardId, address }] })).actors.get(actorKey(address))
  }
  const classes = async (...classIds: readonly string[]) => (await scene.ask(scene.b, { classes: classIds })).classes
  const minted = async (...nftIds: readonly string[]) => {
    const instances = nftIds.map((id): HomedActor => ({ shardId: 3, address: instanceAddress(id) }))
    return (await scene.ask(scene.b, { instances })).instances
  }
  const history = (shardId = 3) => scene.run(scene.harness.nftEvents(shardId, NFT_ID))

  describe('NFTs', () => {
    test('classes and instances are shown as they were written last, whatever their clients have put in them', async () => {
      const token = await scene.own(scene.a, 3)
      const holding = { txnId: 'txn_1', accountId: 'alice', toAccountId: null, leg: null }
      const steps: readonly ActorState[] = [
        classState(),
        instanceState(),
        classState({ version: 2, status: 'active' }),
        MINTED,
        { ...ownedBy(MINTED, 'alice'), status: 'held', hold: holding, events: 1, tip: 'ab'.repeat(32) },
        { ...ownedBy(ownedBy(MINTED, 'bob'), 'bob'), status: 'burned' },
      ]
      for (const state of steps) {
        await scene.apply(scene.a, partWith(token, actorRows(state)))
        expect(await found(3, state)).toEqual(state)
      }
    })

    test('what a class never changes is told of any shard by its ID, once its registration is final', async () => {
      const three = await scene.own(scene.a, 3)
      const four = await scene.own(scene.a, 4)
      const other = classState({ id: 'other', name: 'Other', classId: classIdOf(1), issuer: 'b', status: 'active' })
      await scene.apply(scene.a, partWith(three, actorRows(classState())), partWith(four, actorRows(other)))
      const all = [CLASS_ID, other.classId, classIdOf(2), CLASS_ID.toLowerCase()]
      const ofOther = [other.classId, { classId: other.classId, issuer: 'b' }] as const
      expect(await classes(...all)).toEqual(new Map([ofOther]))
      await scene.apply(scene.a, partWith(three, actorRows(classState({ version: 2, status: 'active' }))))
      const facts = { classId: CLASS_ID, issuer: 'issuer@bank' }
      expect(await classes(...all)).toEqual(new Map([[CLASS_ID, facts], ofOther]))
      expect(await classes(CLASS_ID)).toEqual(new Map([[CLASS_ID, facts]]))
    })

    test('a class whose issuer refused is no more: its name may be another class, and its ID, too', async () => {
      const token = await scene.own(scene.a, 3)
      await scene.apply(scene.a, partWith(token, actorRows(classState())))
      await scene.apply(scene.a, partWith(token, endActor(classState())))
      expect(await found(3, classState())).toBeUndefined()
      const again = classState({ classId: classIdOf(1), status: 'active' })
      await scene.apply(scene.a, partWith(token, actorRows(again)))
      expect(await found(3, again)).toEqual(again)
      expect([...(await classes(CLASS_ID, again.classId)).keys()]).toEqual([again.classId])
      await scene.apply(scene.a, partWith(token, actorRows(classState({ id: 'other', status: 'active' }))))
      expect([...(await classes(CLASS_ID)).keys()]).toEqual([CLASS_ID])
    })

    test('that an instance was minted is told of its own home alone, and stays so when it is burned', async () => {
      const token = await scene.own(scene.a, 3)
      const [minting, held, burned] = ['minting', 'held', 'burned'].map((name) => `${CLASS_ID}/${name}`)
      await scene.apply(
        scene.a,
        partWith(
          token,
          actorRows(instanceState({ id: minting ?? '' })),
          actorRows(instanceState({ id: held ?? '', status: 'held' })),
          actorRows(instanceState({ id: burned ?? '', status: 'burned' })),
          actorRows(instanceState({ status: 'active' })),
        ),
      )
      const ids = [minting ?? '', held ?? '', burned ?? '', NFT_ID]
      expect(await minted(...ids, `${CLASS_ID}/absent`)).toEqual(new Set([held, burned, NFT_ID]))
      const elsewhere = [{ shardId: 4, address: instanceAddress(NFT_ID) }]
      expect((await scene.ask(scene.b, { instances: elsewhere })).instances.size).toBe(0)
    })

    test('an instance that its owner refused is no more, and may be minted again', async () => {
      const token = await scene.own(scene.a, 3)
      const minting = instanceState()
      await scene.apply(scene.a, partWith(token, actorRows(minting)))
      await scene.apply(scene.a, partWith(token, endActor(minting)))
      expect(await found(3, minting)).toBeUndefined()
      await scene.apply(scene.a, partWith(token, actorRows(minting)))
      const [first] = historyOf(['alice'])
      await scene.apply(scene.a, partWith(token, actorRows(MINTED), eventRows(NFT_ID, ...(first ? [first] : []))))
      expect(await found(3, MINTED)).toEqual(MINTED)
      expect(await history()).toEqual(historyOf(['alice']))
    })

    test('what became of an NFT is kept as it was written, entry by entry', async () => {
      const token = await scene.own(scene.a, 3)
      const events = historyOf(['alice', 'bob', 'alice'], true)
      await scene.apply(scene.a, partWith(token, eventRows(NFT_ID, ...events.slice(0, 1))))
      await scene.apply(scene.a, partWith(token, eventRows(NFT_ID, ...events.slice(1))))
      expect(await history()).toEqual(events)
      expect(await scene.run(scene.harness.nftEvents(3, `${NFT_ID}0`))).toEqual([])
    })

    test('how many NFTs an account owns and has room for is what a look-up shows', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const turn = (before: AccountState, nftCount: number, nftRoom: number): AccountState => {
        return { ...before, version: before.version + 1, nftCount, nftRoom }
      }
      const first = turn(alice, 2, 1)
      const then = turn(first, 3, 0)
      for (const [before, after] of [
        [alice, first],
        [first, then],
      ] as const) {
        await scene.apply(scene.a, partWith(token, { accounts: [writeOf(before, after)] }))
        expect(await scene.stateOf(scene.b, alice)).toEqual(after)
      }
    })

    test('a mint under way, and a leg whose NFT is asked for, are kept whole at the account', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const plain = transactionOf(alice, nextTxnId(3), 'k1', '1', 1)
      const transaction = { ...plain, tokenId: NFT_ID, metadata: { note: '\u0000' } } as const
      const acceptedUnder = { keyId: 'key', publicKey: 'point' }
      const held = keepHolds(
        alice,
        { kind: 'mint', idempotencyKey: 'k "1"', transaction, acceptedUnder },
        legHold({ state: 'holding', txnId: transaction.txnId, transaction, reverting: true }),
      )
      await scene.apply(scene.a, partOf(token, held))
      expect(await scene.stateOf(scene.b, alice)).toEqual(held.account)
    })

    test('a mint is known by its key as what it answered, whole', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const instance = instanceViewOf(MINTED)
      if (instance === undefined) throw new Error('it was minted')
      const answer = { instance, txnId: 'txn_mint', payloadHash: 'ab'.repeat(32) }
      const use = { accountId: 'alice', operation: 'mint', idempotencyKey: 'k "1"' } as const
      const recorded = { ...use, payloadHash: 'ab'.repeat(32), keyId: alice.key?.keyId ?? '', answer, atMs: 1 }
      await scene.apply(scene.a, partWith(token, { operations: [recorded] }))
      const address = { ...use, shardId: 3 }
      const { keys } = await scene.ask(scene.b, { keys: [address, { ...address, operation: 'transaction' }] })
      expect([...keys.keys()]).toEqual([keyAddressOf(address)])
      expect(keys.get(keyAddressOf(address))).toEqual({
        payloadHash: 'ab'.repeat(32),
        key: alice.key,
        answer: { kind: 'minted', ...answer, replayed: false, mismatch: false },
      })
    })
  })

  describe('NFTs: what is refused', () => {
    test('D2: no two classes have one ID, wherever their homes are', async () => {
      const three = await scene.own(scene.a, 3)
      const four = await scene.own(scene.a, 4)
      await scene.apply(scene.a, partWith(three, actorRows(classState())))
      const same = classState({ id: 'other', name: 'Other', status: 'active' })
      for (const token of [three, four]) await scene.refuse(scene.a, partWith(token, actorRows(same)))
      expect((await classes(CLASS_ID)).size).toBe(0)
      await scene.apply(scene.a, partWith(four, actorRows({ ...same, classId: classIdOf(1) })))
    })

    test('D2: an account keeps no fewer places than none, and gave away no more NFTs than it took in or was promised', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const turned = (nftCount: number, nftRoom: number) => {
        return { ...alice, version: alice.version + 1, nftCount, nftRoom }
      }
      for (const [owned, promised] of [
        [-1, 0],
        [2, -1],
        [-3, 2],
      ] as const) {
        await scene.refuse(scene.a, partWith(token, { accounts: [writeOf(alice, turned(owned, promised))] }))
      }
      expect(await scene.stateOf(scene.b, alice)).toEqual(alice)
      const promised = turned(-1, 1)
      await scene.apply(scene.a, partWith(token, { accounts: [writeOf(alice, promised)] }))
      expect(await scene.stateOf(scene.b, alice)).toEqual(promised)
    })

    test('D3: an NFT with a text that cannot be stored fails its batch, and nothing else is to blame', async () => {
      const token = await scene.own(scene.a, 3)
      const [first] = historyOf(['alice'])
      if (first === undefined) throw new Error('a history has entries')
      const poison = 'a\0b'
      const poisonous = [
        eventRows(poison, first),
        eventRows(NFT_ID, { ...first, txnId: poison }),
        actorRows(classState({ name: poison })),
        actorRows(classState({ classId: poison })),
      ]
      for (const rows of poisonous) {
        const verdict = await scene.commit(scene.a, partWith(token, rows, actorRows(instanceState())))
        expect(verdict).toMatchObject({ kind: 'failed', cause: 'data' })
      }
      expect(await found(3, instanceState())).toBeUndefined()
      await scene.apply(scene.a, partWith(token, actorRows(REGISTERED), eventRows(NFT_ID, first)))
    })
  })
}
