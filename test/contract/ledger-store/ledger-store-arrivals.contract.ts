/** The part of the contract that is about what comes from another ledger, or goes to one. Registered by `ledgerStoreContract`. */
import { describe, expect, test } from 'vitest'
import type { RecordedOperation } from '../../../actors/account/outcome.ts'
import { usedKeyHash } from '../../../actors/account/used-key.ts'
import { actorKey } from '../../../actors/address.ts'
import type { ArrivedFrom } from '../../../actors/arrival.ts'
import { addressOfState } from '../../../actors/actor-state.ts'
import { keyAddressOf } from '../../../runtime/ports/ledger-store.ts'
import { partOf, partWith } from '../../support/postgres/ledger-rows.ts'
import { classState, historyOf, instanceState, NFT_ID } from '../../support/postgres/ledger-rows-nfts.ts'
import { actorRows, keepHolds, tokenState } from '../../support/postgres/ledger-rows-values.ts'
import type { Scene } from './ledger-store-scene.ts'

const FROM: ArrivedFrom = { ledgerId: 'there "1"', importId: 'import-1', recordHash: 'a'.repeat(64) }
const SALT = '0'.repeat(32)

export function arrivalsContract(scene: Scene): void {
  describe('what comes from another ledger', () => {
    test('an account is as it was written: while it is held, when it has come, and when it goes', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const held = keepHolds(alice, {
        kind: 'arrival',
        from: FROM,
        account: {
          key: { keyId: 'key', publicKey: 'point' },
          status: 'frozen',
          incoming: 'refuse',
          balances: { BASE: '0.000000000000000001', GOLD: '3' },
          nfts: 2,
          keySalt: SALT,
          txnCount: 7,
          tip: 'c'.repeat(64),
          createdAt: '2025-01-01T00:00:00.000Z',
          updatedAt: '2025-01-02T00:00:00.000Z',
        },
        keyParts: 1,
      })
      const gone = {
        ...held,
        account: {
          ...held.account,
          arrived: { ...FROM, keySalt: SALT },
          moved: { audience: 'elsewhere', balances: { BASE: '1.5' } },
        },
      }
      const rows = { ...held.rows, accounts: held.rows.accounts.map((write) => ({ ...write, account: gone.account })) }
      await scene.apply(scene.a, partOf(token, { ...gone, rows }))
      expect(await scene.stateOf(scene.b, alice)).toEqual(gone.account)
    })

    test('keys that were used elsewhere are found, each by its hash, and are no keys of this ledger', async () => {
      const token = await scene.own(scene.a, 3)
      await scene.opened(scene.a, token)
      const hashes = ['k1', 'k2'].map((idempotencyKey) =>
        usedKeyHash(SALT, 'alice', { operation: 'transaction', idempotencyKey }),
      )
      const operations = hashes.map((idempotencyKey): RecordedOperation => ({
        accountId: 'alice',
        operation: 'elsewhere',
        idempotencyKey,
        payloadHash: '',
        keyId: '',
        answer: null,
        atMs: 1,
      }))
      await scene.apply(scene.a, partWith(token, { operations }))
      const of = (idempotencyKey: string) => ({ shardId: 3, accountId: 'alice', idempotencyKey })
      const asked = [
        ...hashes.map((hash) => ({ ...of(hash), operation: 'elsewhere' as const })),
        { ...of('k1'), operation: 'transaction' as const },
        { ...of(hashes[0] ?? ''), operation: 'transaction' as const },
        {
          ...of(usedKeyHash(SALT, 'alice', { operation: 'mint', idempotencyKey: 'k1' })),
          operation: 'elsewhere' as const,
        },
      ]
      const { keys, unreadable } = await scene.ask(scene.b, { keys: asked })
      expect([...keys.keys()].toSorted()).toEqual(asked.slice(0, 2).map(keyAddressOf).toSorted())
      expect([...keys.values()].map(({ answer }) => answer)).toEqual(
        [0, 1].map(() => expect.objectContaining({ kind: 'refused', code: 'key_used_elsewhere' })),
      )
      expect([...unreadable]).toEqual([])
    })

    test('a token, a class and an NFT are as they were written, and not there while they are held', async () => {
      const token = await scene.own(scene.a, 3)
      const events = historyOf(['alice', 'bob'])
      const states = [
        tokenState({ status: 'preparing', version: 1, arrived: { ...FROM, supply: '12.5' } }),
        classState({ status: 'preparing', arrived: FROM }),
        instanceState({
          status: 'minting',
          hold: null,
          arrived: { ...FROM, events: events.length },
          arriving: {
            issuer: 'issuer',
            owner: 'bob',
            status: 'active',
            metadata: { note: '\u2028' },
            mintedAtMs: 1,
            acquiredAtMs: 2,
            events,
          },
        }),
      ]
      await scene.apply(scene.a, partWith(token, ...states.map((state) => actorRows(state))))
      const homed = states.map((state) => ({ shardId: 3, address: addressOfState(state) }))
      const answer = await scene.ask(scene.b, {
        actors: homed,
        instances: homed.filter(({ address }) => address.kind === 'instance'),
        classes: [classState().classId],
      })
      for (const state of states) expect(answer.actors.get(actorKey(addressOfState(state)))).toEqual(state)
      expect([...answer.instances, ...answer.classes]).toEqual([])
      expect(homed[2]?.address.id).toBe(NFT_ID)
    })
  })
}
