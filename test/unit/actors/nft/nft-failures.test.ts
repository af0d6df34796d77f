/** Every operation on an NFT fails with the same codes, which the NFT's home decides (F1, F3, L5, O2). */
import { beforeEach, describe, expect, test } from 'vitest'
import { free, GROUP, handing, type LegFields, legOf, termsOf } from '../../../model/mini-clients.ts'
import type { KeptTransaction } from '../../../model/mini-ledger.ts'
import { agreed } from '../group/agreed-groups.ts'
import { burning, Gems, offering, PAYS } from './gems.ts'

let gems: Gems

beforeEach(() => void (gems = new Gems()))

/** Runs before the situation; returns the order. */
type Operation = (by: string) => () => KeptTransaction

function legOfGroup(leg: (by: string) => LegFields): Operation {
  return (by) => {
    const terms = agreed(gems.ledger, leg(by), PAYS)
    gems.ledger.settled(legOf(terms, 1))
    return () => gems.ledger.settled(legOf(terms, 0))
  }
}

const OPERATIONS: readonly (readonly [string, Operation])[] = [
  ['a transfer', (by) => () => gems.ledger.settled(handing(gems.ruby, by, 'bob'))],
  ['a burn', (by) => () => gems.ledger.settled(burning(gems.ruby, by))],
  ['an exchange', (by) => () => gems.ledger.settled(offering(gems.ruby, by, 'bob', '7'))],
  ['a leg that hands it over', legOfGroup((by) => gems.gives(by))],
  ['a leg that burns it', legOfGroup((by) => gems.burns(by))],
]

interface Situation {
  readonly code: string
  readonly by?: string
  readonly spoil?: () => unknown
  /** The final owner of the ruby. */
  readonly owner?: string
  readonly status?: 'held' | 'burned'
}

const SITUATIONS: readonly (readonly [string, Situation])[] = [
  ['another account owns', { code: 'not_owner', by: 'cid' }],
  [
    'another account owns and is transferring',
    { code: 'not_owner', by: 'cid', spoil: () => gems.ledger.submit(handing(gems.ruby, 'ann', 'bob')), owner: 'bob' },
  ],
  [
    'was given away',
    { code: 'not_owner', spoil: () => gems.ledger.settled(handing(gems.ruby, 'ann', 'cid')), owner: 'cid' },
  ],
  ['was burned', { code: 'not_owner', spoil: () => gems.ledger.settled(burning(gems.ruby, 'ann')), status: 'burned' }],
  [
    'is being transferred',
    { code: 'held', spoil: () => gems.ledger.submit(handing(gems.ruby, 'ann', 'cid')), owner: 'cid' },
  ],
  [
    'is offered for exchange',
    { code: 'held', spoil: () => gems.ledger.settled(offering(gems.ruby, 'ann', 'cid')), status: 'held' },
  ],
  [
    'is held for a leg',
    {
      code: 'held',
      spoil: () => {
        const terms = termsOf([gems.gives('ann', 'cid'), PAYS], { groupId: '3f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33' })
        gems.ledger.agree(terms)
        gems.ledger.settled(legOf(terms, 0))
      },
      status: 'held',
    },
  ],
  [
    'belongs to a frozen account',
    { code: 'account_frozen', spoil: () => gems.ledger.change('ann', { status: 'frozen' }) },
  ],
]

describe.for(SITUATIONS)('with an NFT that %s', ([, { code, by = 'ann', spoil, owner = 'ann', status = 'active' }]) => {
  test.for(OPERATIONS)(`%s fails with ${code} and leaves no hold`, ([, prepare]) => {
    const { ledger, ruby } = gems
    const order = prepare(by)
    spoil?.()
    const { failedCount } = ledger.account(by)
    expect(order()).toMatchObject({ accountId: by, status: 'failed', failure: { code }, auditHash: null })
    expect(ledger.account(by).failedCount).toBe(failedCount + 1)
    expect(ledger.nftSeen(ruby)).toMatchObject({ owner, status })
    expect(ledger.balance('bob')).toEqual(free('100'))
    expect([undefined, 'reverted']).toContain(ledger.groupSeen(GROUP)?.status)
    expect(ledger.accounts().filter(({ holds }) => holds.size > 0).length > 0).toBe(status === 'held')
  })
})
