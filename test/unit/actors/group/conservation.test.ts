/**
 * I4 and I9 hold between any two steps, for random orders of tokens and NFTs and any order of messages. Every
 * transaction ends, and each account's counts match its own transactions.
 */
import fc from 'fast-check'
import { readTerms, type Terms } from '../../../../actors/group/terms.ts'
import { describe, expect, test } from 'vitest'
import type { TransactionType } from '../../../../actors/account/commands.ts'
import { accountAddress, groupAddress, tokenAddress } from '../../../../actors/address.ts'
import { nftId } from '../../../../actors/nft-id.ts'
import {
  mintCommand,
  registerGroupCommand,
  registerTokenCommand,
  revertGroupCommand,
  statusCommand,
} from '../../../support/accounts.ts'
import { ADMIN, type LegFields, legOf, World } from '../../../model/mini-clients.ts'
import { countAtRest } from '../../../model/mini-ledger-count.ts'

const NAMES = ['ann', 'bob', 'cid'] as const
const GROUPS = [1, 2, 3].map((number) => `2f0c2c1e-7d35-4b4e-9d2a-00000000000${number}`)
const INSTANCES = ['ruby', 'opal', 'jade'] as const

const name = fc.constantFrom(...NAMES)
const instance = fc.constantFrom(...INSTANCES)
const groupId = fc.constantFrom(...GROUPS)

/** A play: its assets (NFTs by the names of their instances), and its most frequent types. */
const actionsOf = (assets: readonly string[], types: readonly TransactionType[]) => {
  const asset = fc.constantFrom(...assets)
  return {
    submit: fc.record({
      type: fc.constantFrom(...types),
      from: name,
      to: fc.option(name),
      asset,
      amount: fc.constantFrom('1', '2', '5.5', '30', '900', '999999999999999000', '999999999999999000'),
      /** In an exchange: what comes for it, and whether its mirror is there as well. */
      receives: fc.oneof(fc.constant('BASE'), asset),
      mirrored: fc.boolean(),
      groupId: fc.option(groupId),
      lives: fc.constantFrom(null, null, 2, 40),
    }),
    mint: fc.record({ instance, owner: name }),
    /** As leg 0 of a group, so that legs alike meet; its opposite is added. */
    register: fc.record({
      groupId,
      timeoutSeconds: fc.constantFrom(1, 900),
      legs: fc.array(
        fc.record({
          type: fc.constantFrom('debit', 'transfer', 'exchange', 'credit', 'mint', 'burn'),
          from: name,
          to: name,
          asset,
          amount: fc.constantFrom('1', '2', '30', '900'),
          boundary: fc.boolean(),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    leg: fc.record({ groupId, leg: fc.nat({ max: 6 }) }),
    revert: fc.record({ groupId, named: fc.array(fc.nat(), { maxLength: 3 }) }),
    status: fc.record({
      of: name,
      status: fc.constantFrom('active' as const, 'active' as const, 'frozen' as const, 'closed' as const),
      incoming: fc.constantFrom('accept' as const, 'accept' as const, 'refuse' as const),
    }),
    token: fc.record({
      asset: fc.constantFrom('TIN', 'LEAD'),
      issuer: fc.constantFrom('ann', 'bob', 'new'),
      supply: fc.constantFrom('0', '100'),
    }),
    pass: fc.constantFrom(20, 1_000),
  } as const
}
type Actions = ReturnType<typeof actionsOf>
type Kind = keyof Actions
type Of<K extends Kind> = Actions[K] extends fc.Arbitrary<infer Value> ? Value : never
type Act = (play: Play) => void

/** Actions of each kind as often as their weights say, and what is delivered after each. */
function roundsOf(actions: Actions, weights: Readonly<Partial<Record<Kind, number>>>) {
  const action: fc.Arbitrary<Act> = fc.oneof(
    ...(Object.entries(weights) as [Kind, number][]).map(([kind, weight]) => ({
      weight,
      arbitrary: (actions[kind] as fc.Arbitrary<never>).map(
        (what): Act =>
          (play) =>
            play[kind](what),
      ),
    })),
  )
  const round = fc.record({ action, deliveries: fc.array(fc.nat({ max: 20 }), { maxLength: 4 }) })
  return fc.array(round, { minLength: 10, maxLength: 60 })
}

class Play implements Readonly<Record<Kind, (what: never) => void>> {
  readonly ledger = new World()
  private readonly terms = new Map<string, Terms>()
  private readonly classId: string

  constructor() {
    this.ledger.open(...NAMES)
    this.ledger.issue({ tokenId: 'GOLD', issuer: 'ann', totalSupply: '1000' })
    for (const of of NAMES) this.ledger.fund(of, '1000')
    this.ledger.settled({ accountId: 'ann', type: 'transfer', toAccountId: 'bob', tokenId: 'GOLD', amount: '500' })
    this.classId = this.ledger.classOf('ann')
    this.ledger.minted({ accountId: 'ann', classId: this.classId, instanceId: 'ruby' })
    this.ledger.minted({ accountId: 'ann', classId: this.classId, instanceId: 'opal', owner: 'bob' })
  }

  leg({ groupId: group, leg }: Of<'leg'>): void {
    const terms = this.terms.get(group)
    if (terms !== undefined) this.ledger.submission(legOf(terms, leg % terms.legs.length))
  }

  revert({ groupId: group, named }: Of<'revert'>): void {
    const all = [...this.ledger.transactions.values()]
    const transactions = named.flatMap((index) => all[index % all.length] ?? [])
    this.ledger.ask(groupAddress(group), revertGroupCommand(group, { caller: ADMIN, transactions }))
  }

  status({ of, status, incoming }: Of<'status'>): void {
    this.ledger.ask(accountAddress(of), statusCommand({ accountId: of, status, incoming }))
  }

  token({ asset: tokenId, issuer, supply: totalSupply }: Of<'token'>): void {
    this.ledger.ask(tokenAddress(tokenId), registerTokenCommand({ tokenId, issuer, totalSupply }))
  }

  pass(durationMs: Of<'pass'>): void {
    this.ledger.pass(durationMs)
  }

  mint({ instance: instanceId, owner }: Of<'mint'>): void {
    const { classId } = this
    this.ledger.ask(accountAddress('ann'), mintCommand({ accountId: 'ann', classId, instanceId, owner }))
  }

  /** A request that the API rejects for its shape never gets here. */
  submit({
    type,
    from,
    to,
    asset: of,
    amount: quantity,
    receives,
    mirrored,
    groupId: group,
    lives,
  }: Of<'submit'>): void {
    const gives = this.of(of, quantity)
    const receive = this.of(receives, '30')
    const toAccountId = to !== from && (type === 'transfer' || type === 'exchange') ? to : null
    const expiresAtMs = lives === null ? null : this.ledger.nowMs + lives
    if (of === 'BASE' && (type === 'mint' || type === 'burn' || type === 'exchange')) return
    if (isNft(of) && !['transfer', 'burn', 'exchange'].includes(type)) return
    if (type === 'exchange' && (group === null || of === receives)) return
    if ((type === 'transfer' || (type === 'exchange' && isNft(of))) && toAccountId === null) return
    const common = { type, groupId: group, expiresAtMs }
    const swaps = type === 'exchange' && toAccountId !== null
    this.ledger.submission({ ...common, ...gives, accountId: from, toAccountId, receive: swaps ? receive : null })
    if (!swaps || !mirrored) return
    this.ledger.submission({ ...common, ...receive, accountId: toAccountId, toAccountId: from, receive: gives })
  }

  register({ groupId: group, legs, timeoutSeconds: timeout_seconds }: Of<'register'>): void {
    const fields = legs.flatMap((leg) => this.netted(leg))
    const twice =
      fields.length < 2 ? [...fields, { account_id: 'cid', type: 'credit', amount: '1', boundary: true }] : fields
    const read = readTerms({ group_id: group, legs: twice, timeout_seconds })
    // The API refuses a group in which one account sends an asset and credits it.
    if (!read.ok) return
    const terms = read.value
    if (!this.ledger.states.has(`group ${group}`)) this.terms.set(group, terms)
    this.ledger.ask(groupAddress(group), registerGroupCommand(terms))
  }

  private of(of: string, quantity: string): { readonly tokenId: string; readonly amount: string } {
    if (!isNft(of)) return { tokenId: of, amount: quantity }
    return { tokenId: nftId({ classId: this.classId, instanceId: of }), amount: '1' }
  }

  /** A leg, and what it needs beside it so that all nets to zero. */
  private netted({
    type,
    from,
    to,
    asset: of,
    amount: quantity,
    boundary,
  }: Of<'register'>['legs'][number]): LegFields[] {
    if (isNft(of)) {
      const nft = { account_id: from, amount: '1', class_id: this.classId, instance_id: of }
      if (type === 'burn') return [{ ...nft, type }]
      const pays = { account_id: to, type: 'transfer', amount: '30', to_account_id: from }
      return [{ ...nft, type: 'transfer', to_account_id: to }, pays]
    }
    const own = { account_id: from, type, amount: quantity, token_id: of }
    if (type === 'mint' || type === 'burn') return [own]
    if (boundary) return [{ ...own, boundary }]
    if (type === 'transfer' && from !== to) return [{ ...own, to_account_id: to }]
    const opposite = type === 'credit' ? 'debit' : 'credit'
    return [own, { account_id: to, type: opposite, amount: quantity, token_id: of }]
  }

  finish(): void {
    for (let turn = 0; turn < 4; turn += 1) {
      this.ledger.drain()
      this.ledger.pass(86_400_000)
    }
    this.ledger.drain()
  }
}

function isNft(of: string): boolean {
  return INSTANCES.some((one) => one === of)
}

const TOKENS = roundsOf(
  actionsOf(['BASE', 'GOLD', 'TIN'], ['credit', 'debit', 'transfer', 'exchange', 'mint', 'burn']),
  {
    submit: 6,
    register: 2,
    leg: 6,
    revert: 1,
    status: 1,
    token: 1,
    pass: 1,
  },
)
const NFTS = roundsOf(actionsOf(INSTANCES, ['transfer', 'transfer', 'transfer', 'exchange', 'exchange', 'burn']), {
  submit: 12,
  mint: 3,
  register: 3,
  leg: 8,
  revert: 1,
  status: 1,
  pass: 2,
})

// A play in which little happens would prove little: what must have been seen.
const OF_TOKENS = [
  ...['credit', 'debit', 'transfer', 'exchange', 'mint', 'burn'].map((type) => `client ${type} completed`),
  ...['credit', 'debit', 'mint'].map((type) => `ledger ${type} completed`),
  'client transfer incoming_refused',
  'client transfer expired',
  'client transfer account_frozen',
  'client exchange exchange_expired',
  'client mint supply_limit',
  'client debit insufficient_funds',
  'group settled',
  'group reverted',
  'group linked',
  'partial failure',
]
const OF_NFTS = [
  ...['mint', 'transfer', 'exchange', 'burn'].map((type) => `client ${type} completed`),
  ...['transfer', 'exchange', 'burn'].map((type) => `client ${type} not_owner`),
  ...['transfer', 'exchange'].map((type) => `client ${type} held`),
  'client exchange exchange_expired',
  'ledger credit completed',
  'ledger transfer completed',
  'group settled',
  'group reverted',
]

describe('I4, I9', () => {
  test.for([
    ['tokens', TOKENS, OF_TOKENS],
    ['NFTs', NFTS, OF_NFTS],
  ] as const)('hold between any two steps with %s, and what was begun ends', ([, plays, expected]) => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(plays, (rounds) => {
        const play = new Play()
        for (const { action: act, deliveries } of rounds) {
          act(play)
          for (const number of deliveries) play.ledger.deliver((count) => number % Math.max(count, 1))
        }
        play.finish()
        countAtRest(play.ledger)
        for (const { holds } of play.ledger.accounts()) expect(holds.size).toBe(0)
        for (const group of GROUPS) {
          expect([undefined, 'settled', 'reverted', 'linked']).toContain(play.ledger.group(group)?.status)
        }
        for (const { type, status, failure, origin } of play.ledger.transactions.values()) {
          expect(status).not.toBe('pending')
          seen.add(`${origin} ${type} ${failure?.code ?? status}`)
        }
        for (const state of play.ledger.states.values()) {
          if ('kind' in state) seen.add(`${state.kind} ${'status' in state ? state.status : 'waits'}`)
          if ('partialFailures' in state && state.partialFailures.length > 0) seen.add('partial failure')
        }
      }),
      { numRuns: 250, seed: 20_260_701 },
    )
    expect(expected.filter((what) => !seen.has(what))).toEqual([])
  })

  test('are found broken when an account has more than came to it', () => {
    const [ledger, richer] = [new World(), new World()]
    for (const [each, amount] of [
      [ledger, '10'],
      [richer, '11'],
    ] as const) {
      each.open('ann', 'bob')
      each.fund('ann', amount)
    }
    const ann = richer.accounts().find(({ accountId }) => accountId === 'ann')
    if (ann === undefined) throw new Error('ann is open')
    ledger.states.set('ann', ann)
    expect(() => ledger.fund('bob', '1')).toThrow(/^I4: there is 12 BASE, and 11 is due$/)
  })
})
