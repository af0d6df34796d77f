/**
 * Goal: I9 and I4 between any two steps, whatever clients do with NFTs and in whatever order messages arrive; and
 * everything that was begun ends, with each account counting what is its own.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accountAddress, classAddress, groupAddress } from '../../../actors/address.ts'
import { nftId } from '../../../actors/nft-id.ts'
import {
  mintCommand,
  registerClassCommand,
  registerGroupCommand,
  revertGroupCommand,
  statusCommand,
} from '../../support/accounts.ts'
import { ADMIN, fund, type LegFields, legOf, open, submission, termsOf } from '../../model/mini-clients.ts'
import { countAtRest } from '../../model/mini-ledger-count.ts'
import { MiniLedger } from '../../model/mini-ledger.ts'

const NAMES = ['ann', 'bob', 'cid'] as const
const INSTANCES = ['ruby', 'opal', 'jade'] as const
const GROUPS = [1, 2, 3].map((number) => `3f0c2c1e-7d35-4b4e-9d2a-00000000000${number}`)

const name = fc.constantFrom(...NAMES)
const instance = fc.constantFrom(...INSTANCES)
const groupId = fc.constantFrom(...GROUPS)
const lives = fc.constantFrom(null, null, 3, 40)

const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('mint' as const), instance, owner: name }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('transfer' as const), from: name, to: name, instance, groupId, lives }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('burn' as const), from: name, instance }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('exchange' as const),
      from: name,
      to: name,
      instance,
      /** What comes back: the base unit, or another NFT. */
      other: fc.option(instance),
      mirrored: fc.boolean(),
      groupId,
      lives,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('register' as const),
      groupId,
      from: name,
      to: name,
      instance,
      burns: fc.boolean(),
      timeoutSeconds: fc.constantFrom(1, 900),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('leg' as const), groupId, leg: fc.nat({ max: 3 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('revert' as const),
      groupId,
      named: fc.array(fc.nat(), { maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('status' as const),
      of: name,
      status: fc.constantFrom('active' as const, 'active' as const, 'frozen' as const, 'closed' as const),
      incoming: fc.constantFrom('accept' as const, 'accept' as const, 'refuse' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(20, 1_000) }) },
)
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never
type Of<Kind extends Action['kind']> = Extract<Action, { readonly kind: Kind }>

const round = fc.record({ action, deliveries: fc.array(fc.nat({ max: 20 }), { maxLength: 4 }) })
type Round = typeof round extends fc.Arbitrary<infer Value> ? Value : never

/** One with which 100 plays try everything. */
const SEED = 3

class Play {
  readonly ledger = new MiniLedger()
  private readonly classId: string
  private readonly terms = new Map<string, ReturnType<typeof termsOf>>()

  constructor() {
    const { ledger } = this
    open(ledger, ...NAMES)
    const registered = ledger.asked(classAddress('Gems'), registerClassCommand({ issuer: 'ann' }))
    if (registered.kind !== 'class_registered') throw new Error('There is no class.')
    this.classId = registered.nftClass.classId
    for (const of of NAMES) fund(ledger, of, '1000')
    this.act({ kind: 'mint', instance: 'ruby', owner: 'ann' })
    this.act({ kind: 'mint', instance: 'opal', owner: 'bob' })
    ledger.drain()
  }

  act(what: Action): void {
    const { ledger } = this
    switch (what.kind) {
      case 'mint': {
        const { instance: instanceId, owner } = what
        const { classId } = this
        ledger.ask(accountAddress('ann'), mintCommand({ accountId: 'ann', classId, instanceId, owner }))
        return
      }
      case 'transfer':
        if (what.from !== what.to) this.transfer(what)
        return
      case 'burn':
        submission(ledger, { accountId: what.from, type: 'burn', amount: '1', tokenId: this.nft(what.instance) })
        return
      case 'exchange':
        if (what.from !== what.to && what.other !== what.instance) this.exchange(what)
        return
      case 'register':
        if (what.from !== what.to) this.register(what)
        return
      case 'leg': {
        const terms = this.terms.get(what.groupId)
        if (terms !== undefined) submission(ledger, legOf(terms, what.leg % terms.legs.length))
        return
      }
      case 'revert': {
        const all = [...ledger.transactions.values()]
        const transactions = what.named.flatMap((index) => all[index % all.length] ?? [])
        ledger.ask(groupAddress(what.groupId), revertGroupCommand(what.groupId, { caller: ADMIN, transactions }))
        return
      }
      case 'status': {
        const { of, status, incoming } = what
        ledger.ask(accountAddress(of), statusCommand({ accountId: of, status, incoming }))
        return
      }
      case 'pass':
        ledger.pass(what.ms)
    }
  }

  private nft(instanceId: string): string {
    return nftId({ classId: this.classId, instanceId })
  }

  private expiry(of: number | null): number | null {
    return of === null ? null : this.ledger.nowMs + of
  }

  private transfer({ from, to, instance: of, groupId: group, lives: living }: Of<'transfer'>): void {
    submission(this.ledger, {
      accountId: from,
      type: 'transfer',
      amount: '1',
      tokenId: this.nft(of),
      toAccountId: to,
      groupId: group,
      expiresAtMs: this.expiry(living),
    })
  }

  private exchange({ from, to, instance: of, other, mirrored, groupId: group, lives: living }: Of<'exchange'>): void {
    const gives = { tokenId: this.nft(of), amount: '1' }
    const receives = other === null ? { tokenId: 'BASE', amount: '30' } : { tokenId: this.nft(other), amount: '1' }
    const common = { type: 'exchange', groupId: group, expiresAtMs: this.expiry(living) } as const
    submission(this.ledger, { ...common, ...gives, accountId: from, toAccountId: to, receive: receives })
    if (mirrored) submission(this.ledger, { ...common, ...receives, accountId: to, toAccountId: from, receive: gives })
  }

  /** Delivery against payment, or a burn against it. */
  private register({ groupId: group, from, to, instance: of, burns, timeoutSeconds }: Of<'register'>): void {
    const nft = { amount: '1', class_id: this.classId, instance_id: of }
    const legs: LegFields[] = [
      { account_id: from, ...nft, ...(burns ? { type: 'burn' } : { type: 'transfer', to_account_id: to }) },
      { account_id: to, type: 'transfer', amount: '30', to_account_id: from },
    ]
    const terms = termsOf(legs, { groupId: group, timeoutSeconds })
    this.terms.set(group, terms)
    this.ledger.ask(groupAddress(group), registerGroupCommand(terms))
  }

  /** Everybody is heard, every time passes. */
  end(): void {
    const { ledger } = this
    for (let turn = 0; turn < 4; turn += 1) {
      ledger.drain()
      ledger.pass(86_400_000)
    }
    ledger.drain()
  }
}

/** Kinds of transactions of NFTs, and how they ended. */
function played(rounds: readonly Round[]): readonly string[] {
  const play = new Play()
  for (const { action: what, deliveries } of rounds) {
    play.act(what)
    for (const pick of deliveries) play.ledger.deliver((count) => pick % Math.max(count, 1))
  }
  play.end()
  countAtRest(play.ledger)
  for (const account of play.ledger.accounts()) expect(account.holds.size).toBe(0)
  return [...play.ledger.transactions.values()].flatMap(({ type, status, tokenId, compensates }) => {
    expect(status).not.toBe('pending')
    return tokenId.includes('/') ? [`${compensates === null ? '' : 'undone by '}${type} ${status}`] : []
  })
}

const plays = fc.array(round, { minLength: 5, maxLength: 40 })

test('I9: each has one owner, its history says whose it is, what was begun ends, and everything is tried', () => {
  const seen = new Set<string>()
  const see = (rounds: readonly Round[]): void => played(rounds).forEach((one) => void seen.add(one))
  fc.assert(fc.property(plays, see), { numRuns: 150, seed: SEED })
  // A play in which little happens would prove little.
  expect([...seen].sort()).toEqual([
    'burn completed',
    'burn failed',
    'credit completed',
    'exchange completed',
    'exchange failed',
    'mint completed',
    'transfer completed',
    'transfer failed',
    'undone by credit completed',
    'undone by transfer completed',
  ])
})
