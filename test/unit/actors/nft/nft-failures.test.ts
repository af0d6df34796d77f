/** Every operation on an NFT fails with the same codes, which the NFT's home decides (F1, F3, L5, O2). */
import { beforeEach, describe, expect, test } from 'vitest'
import {
  agree,
  balance,
  change,
  free,
  groupSeen,
  GROUP,
  handing,
  type LegFields,
  legOf,
  nftSeen,
  settled,
  submit,
  termsOf,
} from '../../../model/mini-clients.ts'
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
    settled(gems.ledger, legOf(terms, 1))
    return () => settled(gems.ledger, legOf(terms, 0))
  }
}

const OPERATIONS: readonly (readonly [string, Operation])[] = [
  ['a transfer', (by) => () => settled(gems.ledger, handing(gems.ruby, by, 'bob'))],
  ['a burn', (by) => () => settled(gems.ledger, burning(gems.ruby, by))],
  ['an exchange', (by) => () => settled(gems.ledger, offering(gems.ruby, by, 'bob', '7'))],
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
    { code: 'not_owner', by: 'cid', spoil: () => submit(gems.ledger, handing(gems.ruby, 'ann', 'bob')), owner: 'bob' },
  ],
  [
    'was given away',
    { code: 'not_owner', spoil: () => settled(gems.ledger, handing(gems.ruby, 'ann', 'cid')), owner: 'cid' },
  ],
  ['was burned', { code: 'not_owner', spoil: () => settled(gems.ledger, burning(gems.ruby, 'ann')), status: 'burned' }],
  [
    'is being transferred',
    { code: 'held', spoil: () => submit(gems.ledger, handing(gems.ruby, 'ann', 'cid')), owner: 'cid' },
  ],
  [
    'is offered for exchange',
    { code: 'held', spoil: () => settled(gems.ledger, offering(gems.ruby, 'ann', 'cid')), status: 'held' },
  ],
  [
    'is held for a leg',
    {
      code: 'held',
      spoil: () => {
        const terms = termsOf([gems.gives('ann', 'cid'), PAYS], { groupId: '3f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33' })
        agree(gems.ledger, terms)
        settled(gems.ledger, legOf(terms, 0))
      },
      status: 'held',
    },
  ],
  [
    'belongs to a frozen account',
    { code: 'account_frozen', spoil: () => change(gems.ledger, 'ann', { status: 'frozen' }) },
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
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner, status })
    expect(balance(ledger, 'bob')).toEqual(free('100'))
    expect([undefined, 'reverted']).toContain(groupSeen(ledger, GROUP)?.status)
    expect(ledger.accounts().filter(({ holds }) => holds.size > 0).length > 0).toBe(status === 'held')
  })
})
