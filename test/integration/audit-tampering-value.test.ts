/**
 * Goal: whoever changes value, supply or whose an NFT is behind the ledger's back is found, by the control that it belongs
 * to, even with all keys at hand. Each way to damage it is tried on a copy of its own.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainHash } from '../../actors/audit-chain.ts'
import { Quantity } from '../../actors/money.ts'
import type { InstanceState } from '../../actors/nft-instance/state.ts'
import type { NftEvent } from '../../actors/nft-instance/state.ts'
import type { TokenState } from '../../actors/token/state.ts'
import { all, type Case, createTampered, foundBy, run, type Tamper, type Tampered } from '../support/tampering.ts'
import {
  addCrossing,
  changeAccount,
  changeBase,
  changeActors,
  changeCrossings,
  changeEvents,
  changeTransactions,
} from '../support/tampering-with-keys.ts'

let tampered: Tampered

beforeAll(async () => {
  tampered = await createTampered()
})
afterAll(() => tampered?.close())

async function expectFound([, found, tamper]: Case): Promise<void> {
  expect(await foundBy(tampered, tamper)).toEqual(found)
}

const ONE = new Quantity(1)

function onGold(change: (token: TokenState) => TokenState | string): Tamper {
  return changeActors('token', (token) => (token.id === 'gold-one' ? change(token) : undefined))
}

function supplyChange(member: 'totalSupply' | 'initialSupply', to: string): Tamper {
  return onGold((token) => ({ ...token, [member]: to }))
}

describe('value', () => {
  const cases: readonly Case[] = [
    [
      'a balance raised',
      ['value_is_conserved', 'no_negative_balance'],
      changeBase('alice-one', ({ balance }) => ({ balance: balance.plus(ONE) })),
    ],
    [
      'value moved from one balance to another',
      ['no_negative_balance'],
      all(
        changeBase('alice-one', ({ balance }) => ({ balance: balance.plus(ONE) })),
        changeBase('bob-one', ({ balance }) => ({ balance: balance.minus(ONE) })),
      ),
    ],
    [
      'a balance made incoming',
      ['value_is_conserved', 'no_negative_balance'],
      changeBase('alice-one', ({ balance, incoming }) => ({
        balance: balance.minus(ONE),
        incoming: incoming.plus(ONE),
      })),
    ],
    ['something reserved for nothing', ['no_negative_balance'], changeBase('alice-one', () => ({ reserved: ONE }))],
    [
      'a balance below zero',
      ['value_is_conserved', 'no_negative_balance'],
      changeBase('alice-one', () => ({ balance: ONE.negated() })),
    ],
    [
      'a balance that is no number',
      ['value_is_conserved', 'no_negative_balance'],
      changeBase('alice-one', () => ({ balance: new Quantity('NaN') })),
    ],
    [
      'a balance deleted',
      ['value_is_conserved', 'no_negative_balance'],
      changeAccount('alice-one', (account) => ({
        ...account,
        balances: new Map([...account.balances].filter(([tokenId]) => tokenId !== 'BASE')),
      })),
    ],
    [
      'another sum of what came over the boundary',
      ['value_is_conserved'],
      changeCrossings((crossings) =>
        crossings.map(([shardId, crossed]) => [
          shardId,
          crossed.map((one) => ({ ...one, credited: new Quantity(one.credited).plus(ONE).toFixed() })),
        ]),
      ),
    ],
    ['a supply raised', ['value_is_conserved', 'supply_reconciles'], supplyChange('totalSupply', '5000')],
    [
      'a supply raised, and the sum at the boundary with it',
      ['supply_reconciles'],
      async (copy) => {
        let before = ''
        await onGold((token) => {
          before = token.totalSupply
          return { ...token, totalSupply: '5000' }
        })(copy)
        await addCrossing([[0, [{ tokenId: 'GOLD-one', credited: before, debited: '5000' }]]])(copy)
      },
    ],
    ['another initial supply', ['supply_reconciles'], supplyChange('initialSupply', '5000')],
    ['a supply that is no number', ['value_is_conserved', 'supply_reconciles'], supplyChange('totalSupply', 'much')],
    ['a document of a token that is none', ['value_is_conserved', 'supply_reconciles'], onGold(() => '{')],
  ]
  test.for(cases)('I4, I5: %s is found', expectFound)
})

describe('NFTs', () => {
  /** Entries of the history of the NFT that went about. */
  const onTravelled =
    (change: (event: NftEvent) => Partial<NftEvent> | undefined): Tamper =>
    (copy) =>
      changeEvents(tampered.told.travelled, (event) => {
        const changes = change(event)
        return changes && { ...event, ...changes }
      })(copy)
  const at = (number: number, changes: Partial<NftEvent>): Tamper =>
    onTravelled((event) => (event.number === number ? changes : undefined))
  const deleted =
    (number: number): Tamper =>
    (copy) =>
      run(`DELETE FROM nft_events WHERE nft_id = '${tampered.told.travelled}' AND number = ${number}`)(copy)
  const onInstance = (nft: 'travelled' | 'burned', change: (state: InstanceState) => InstanceState | string): Tamper =>
    changeActors('instance', (state) => (state.id.endsWith(`/${nft}`) ? change(state) : undefined))
  const cases: readonly Case[] = [
    [
      'another receiver in the payload of an entry',
      ['provenance'],
      onTravelled(({ number, payload, to }) =>
        number === 1 ? { payload: payload.replace(`"to":"${to}"`, '"to":"mallory"') } : undefined,
      ),
    ],
    ['another receiver beside the payload', ['provenance'], at(1, { to: 'mallory' })],
    ['another time beside the payload', ['provenance'], at(1, { atMs: 1_000 })],
    ['another hash', ['provenance'], at(1, { eventHash: '77'.repeat(32) })],
    ['an entry deleted', ['provenance'], deleted(1)],
    ['the mint deleted', ['provenance'], deleted(0)],
    ['the last entry deleted', ['provenance'], deleted(3)],
    [
      'the last entry rewritten to another owner, hashed anew, with the instance',
      ['provenance'],
      async (copy) => {
        let first = ''
        await onTravelled(({ number, txnId, previousHash, ...event }) => {
          if (number === 1) first = txnId
          if (number !== 3) return undefined
          const payload = event.payload.replace('"to":"bob-one"', '"to":"alice-one"')
          return { to: 'alice-one', txnId: first, payload, eventHash: chainHash(previousHash, payload) }
        })(copy)
        await onInstance('travelled', (state) => ({ ...state, owner: 'alice-one' }))(copy)
      },
    ],
    [
      'an entry under a transaction of another NFT, hashed anew to the end',
      ['provenance'],
      async (copy) => {
        let [other, tip] = ['', '']
        await changeTransactions((stored) => {
          if (stored.transaction.type !== 'burn' || !stored.transaction.tokenId.endsWith('/burned')) return undefined
          other = stored.transaction.txnId
          return stored
        })(copy)
        await onTravelled(({ number, txnId, previousHash, ...event }) => {
          if (number !== 3) return undefined
          const payload = event.payload.replace(txnId, other)
          tip = chainHash(previousHash, payload)
          return { txnId: other, payload, eventHash: tip }
        })(copy)
        await onInstance('travelled', (state) => ({ ...state, tip }))(copy)
      },
    ],
    ['another owner', ['provenance'], onInstance('travelled', (state) => ({ ...state, owner: 'mallory' }))],
    [
      'another owner beside the document',
      ['provenance'],
      run("UPDATE actors SET owner = 'mallory' WHERE kind = 'instance' AND actor_id LIKE '%/travelled'"),
    ],
    ['another issuer', ['provenance'], onInstance('travelled', (state) => ({ ...state, issuer: 'mallory' }))],
    [
      'another issuer of the class',
      ['provenance'],
      changeActors('class', (state) => ({ ...state, issuer: 'mallory' })),
    ],
    ['the class deleted', ['provenance'], run("DELETE FROM actors WHERE kind = 'class'")],
    [
      'an NFT deleted',
      ['provenance'],
      run("DELETE FROM actors WHERE kind = 'instance' AND actor_id LIKE '%/travelled'"),
    ],
    [
      'a burned NFT brought back',
      ['provenance'],
      onInstance('burned', (state) => ({ ...state, status: 'active', owner: 'bob-one' })),
    ],
    ['a document that is none', ['provenance'], onInstance('travelled', () => '{')],
    [
      'the receipt of a transfer',
      ['receipts_verify', 'provenance'],
      changeTransactions(({ transaction, receipt }) => {
        const { type, tokenId, accountId, groupId, payload } = transaction
        const isMeant = type === 'transfer' && tokenId.endsWith('/travelled') && accountId === 'alice-one'
        if (!isMeant || groupId === null || payload.includes('terms_hash')) return undefined
        return { transaction, receipt: receipt && { ...receipt, signature: '' } }
      }),
    ],
    [
      'the transaction of a mint deleted',
      ['chains_verify', 'provenance'],
      run("DELETE FROM transactions WHERE type = 'mint' AND token_id LIKE '%/travelled'"),
    ],
  ]
  test.for(cases)('I9: %s is found', expectFound)

  test('I9: what nobody has been at is whose it was', async () => {
    await tampered.onCopy(async ({ sql }) => {
      const rows = await sql`SELECT actor_id, owner, status FROM actors WHERE kind = 'instance' ORDER BY actor_id`
      expect(rows.map((row): unknown => ({ ...row }))).toEqual([
        { actor_id: tampered.told.burned, owner: null, status: 'burned' },
        { actor_id: tampered.told.kept, owner: tampered.refOf('alice-one'), status: 'active' },
        { actor_id: tampered.told.travelled, owner: tampered.refOf('bob-one'), status: 'active' },
      ])
    })
  })
})
