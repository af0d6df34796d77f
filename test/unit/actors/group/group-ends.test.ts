/** A registered group applies all of its legs or none (L2-L4, G1, G2). */
import { beforeEach, describe, expect, test } from 'vitest'
import { groupAddress } from '../../../../actors/address.ts'
import { groupActor } from '../../../../actors/group/machine.ts'
import type { Terms } from '../../../../actors/group/terms.ts'
import { free, GROUP, type LegFields, legOf, termsOf, World } from '../../../model/mini-clients.ts'
import { registerGroupCommand, SIGNED } from '../../../support/accounts.ts'
import { ACROSS, agreed, expectNoHolds, IN, OUT } from './agreed-groups.ts'

let ledger: World

beforeEach(() => {
  ledger = new World()
  ledger.open('ann', 'bob')
  ledger.fund('ann', '10')
  ledger.issue({ issuer: 'ann', totalSupply: '10' })
})

describe('a timer', () => {
  /** The group stepped by a timer that was set for `dueAtMs` and comes at `atMs`. */
  function timed(dueAtMs: number, atMs: number) {
    const timer = { type: 'due', dueAtMs, atMs, salt: '0'.repeat(32), newTxnId: 'txn_0' } as const
    return groupActor.step(GROUP, ledger.group(GROUP) ?? null, timer, SIGNED)
  }

  test.for([
    ['an open group', () => ledger.agree(termsOf([OUT, IN])), { status: 'reverting' }],
    [
      'a group that is registering',
      () => ledger.ask(groupAddress(GROUP), registerGroupCommand(termsOf([OUT, IN]))),
      { status: 'registering', refused: { code: 'group_expired' } },
    ],
  ] as const)(
    'ends the time of %s; one that comes early, or was set for another time, does nothing',
    ([, make, ended]) => {
      make()
      const dueAtMs = ledger.group(GROUP)?.dueAtMs ?? 0
      const nothing = { kind: 'answered', answer: null }
      expect([timed(dueAtMs, dueAtMs - 1), timed(dueAtMs - 1, dueAtMs)]).toEqual([nothing, nothing])
      expect(timed(dueAtMs, dueAtMs)).toMatchObject({ kind: 'stepped', state: ended })
    },
  )
})

interface Kind {
  readonly leg: LegFields
  /** The account and the asset that the leg is about. */
  readonly at: readonly [string, string]
  readonly completed: ReturnType<typeof free>
  readonly settled: ReturnType<typeof free>
  readonly compensation: string
}

const held = (balance: string, available: string, incoming: string) => ({ balance, available, incoming })
const GOLDEN = { account_id: 'ann', amount: '4', token_id: 'GOLD' }

/** Ann has 10 of each; the leg is about 4. */
const KINDS: readonly (readonly [string, Kind])[] = [
  [
    'debit',
    {
      leg: { ...OUT, boundary: true },
      at: ['ann', 'BASE'],
      completed: free('6'),
      settled: free('6'),
      compensation: 'credit',
    },
  ],
  [
    'credit',
    {
      leg: { ...IN, account_id: 'ann', boundary: true },
      at: ['ann', 'BASE'],
      completed: held('10', '10', '4'),
      settled: free('14'),
      compensation: 'debit',
    },
  ],
  [
    'exchange',
    {
      leg: { ...GOLDEN, type: 'exchange', boundary: true },
      at: ['ann', 'GOLD'],
      completed: free('6'),
      settled: free('6'),
      compensation: 'credit',
    },
  ],
  [
    'transfer over the boundary',
    {
      leg: { ...OUT, type: 'transfer', boundary: true },
      at: ['ann', 'BASE'],
      completed: free('6'),
      settled: free('6'),
      compensation: 'credit',
    },
  ],
  ['transfer', { leg: ACROSS, at: ['ann', 'BASE'], completed: free('6'), settled: free('6'), compensation: 'credit' }],
  [
    'mint',
    {
      leg: { ...GOLDEN, type: 'mint' },
      at: ['ann', 'GOLD'],
      completed: held('10', '10', '4'),
      settled: free('14'),
      compensation: 'debit',
    },
  ],
  [
    'burn',
    {
      leg: { ...GOLDEN, type: 'burn' },
      at: ['ann', 'GOLD'],
      completed: held('10', '6', '0'),
      settled: free('6'),
      compensation: 'credit',
    },
  ],
]

describe.for(KINDS)('a %s', ([name, { leg, at, completed, settled: after, compensation }]) => {
  const CID = { account_id: 'cid', type: 'credit', amount: '1', boundary: true }
  const goldAfter = { mint: '14', burn: '6' }[name] ?? '10'

  function completedLeg(): { readonly terms: Terms; readonly txnId: string } {
    ledger.open('cid')
    const terms = agreed(ledger, leg, CID)
    const { txnId, status, sequence } = ledger.settled(legOf(terms, 0))
    expect([status, typeof sequence]).toEqual(['completed', 'number'])
    expect(ledger.balance(...at)).toEqual(completed)
    expect(ledger.supply('GOLD')).toBe('10')
    return { terms, txnId }
  }

  test('is applied when it is completed, and its value is free when the group settles', () => {
    const { terms, txnId } = completedLeg()
    const entries = ledger.entries.get('ann')?.length
    ledger.settled(legOf(terms, 1))
    expect(ledger.groupSeen(GROUP)).toMatchObject({ status: 'settled', compensations: [], partialFailures: [] })
    expect(ledger.balance(...at)).toEqual(after)
    expect(ledger.supply('GOLD')).toBe(goldAfter)
    const settlement = ledger.entries
      .get('ann')
      ?.slice(entries)
      .map(({ payload }) => JSON.parse(payload) as object)
    const changesBalance = name === 'credit' || name === 'mint' || name === 'burn'
    expect(settlement).toMatchObject(
      changesBalance
        ? [
            {
              kind: 'settlement',
              type: name,
              amount: '4',
              settles: txnId,
              balance_after: ledger.balance(...at).balance,
            },
          ]
        : [],
    )
    expect(ledger.balance('bob')).toEqual(free(name === 'transfer' ? '4' : '0'))
    expectNoHolds(ledger)
  })

  test('is undone by a transaction of the ledger when the group reverts', () => {
    const { txnId } = completedLeg()
    ledger.revert(GROUP)
    expect(ledger.balance(...at)).toEqual(free('10'))
    expect(ledger.supply('GOLD')).toBe('10')
    expect(ledger.token('GOLD')?.held).toEqual({})
    const undone = ledger.orderedOn('ann').at(-1)
    expect(undone).toMatchObject({
      type: compensation,
      amount: '4',
      status: 'completed',
      groupId: GROUP,
      compensates: txnId,
    })
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'completed', compensatedBy: undone?.txnId })
    expect(ledger.groupSeen(GROUP)).toMatchObject({
      status: 'reverted',
      legs: [
        { status: 'compensated', txnId },
        { status: 'expected', txnId: null },
      ],
      partialFailures: [],
    })
    expect(ledger.balance('bob')).toEqual(free('0'))
    expectNoHolds(ledger)
  })
})

describe('reverting', () => {
  test('gives back though the account is frozen and refuses incoming value by then', () => {
    const terms = agreed(ledger, OUT, IN)
    ledger.settled(legOf(terms, 0))
    ledger.change('ann', { status: 'frozen', incoming: 'refuse' })
    ledger.revert(GROUP)
    expect(ledger.balance('ann')).toEqual(free('10'))
  })
})
