/**
 * The life of a settlement group as its parties see it: a model of the interface, far smaller than the ledger's own
 * machines and without messages. It says what each action is answered and what can be seen after it.
 */
import { assign, setup, type SnapshotFrom } from 'xstate'

export type Name = 'ann' | 'bob' | 'cid'

export interface ModelLeg {
  readonly account: Name
  readonly type: 'debit' | 'credit' | 'transfer'
  readonly amount: number
  /** The receiver of a transfer. */
  readonly to?: Name
}

export interface Scene {
  readonly title: string
  readonly accounts: readonly Name[]
  readonly legs: readonly ModelLeg[]
  /** Accounts that do not exist at the first registration. */
  readonly missing: readonly Name[]
}

/** Initial balance of every account, in the base unit. */
export const FUNDS = 10

const TWO_LEGS = [
  { account: 'ann', type: 'debit', amount: 4 },
  { account: 'bob', type: 'credit', amount: 4 },
] as const satisfies readonly ModelLeg[]

const THREE_LEGS = [
  { account: 'ann', type: 'transfer', amount: 4, to: 'bob' },
  { account: 'bob', type: 'debit', amount: 3 },
  { account: 'cid', type: 'credit', amount: 3 },
] as const satisfies readonly ModelLeg[]

const PAIR = { accounts: ['ann', 'bob'], legs: TWO_LEGS, missing: [] } as const
const THREE = { accounts: ['ann', 'bob', 'cid'], legs: THREE_LEGS, missing: [] } as const

export const SCENES: readonly Scene[] = [
  { ...PAIR, title: 'two legs' },
  { ...PAIR, title: 'two legs, one account missing', missing: ['bob'] },
  { ...PAIR, title: 'two legs, both accounts missing', missing: PAIR.accounts },
  { ...THREE, title: 'three legs' },
  { ...THREE, title: 'three legs, a receiver missing', missing: ['bob'] },
  { ...THREE, title: 'three legs, all accounts missing', missing: THREE.accounts },
]

export type Action =
  | { readonly type: 'register' }
  /** Registers the missing accounts and funds them. */
  | { readonly type: 'open_missing' }
  | { readonly type: 'take'; readonly leg: number }
  /** The account first spends its whole balance, so that the leg fails. */
  | { readonly type: 'fail'; readonly leg: number }
  /** The group's time passes. */
  | { readonly type: 'time_out' }
  | { readonly type: 'revert' }
  /** A late or repeated action: one of these in a path. */
  | { readonly type: 'take_again'; readonly leg: number }
  | { readonly type: 'revert_again' }
  | { readonly type: 'register_again' }

export type Answered = 'accepted' | 'refused'

export type LegStatus = 'expected' | 'completed' | 'failed'

export interface ModelContext {
  readonly opened: boolean
  readonly legs: readonly LegStatus[]
  /** Whether the path has had a late or repeated action. */
  readonly odd: string | null
}

export function sceneMachine({ legs, missing }: Scene) {
  const setUp = setup({
    types: { context: {} as ModelContext, events: {} as Action },
    guards: {
      allThere: ({ context }) => context.opened,
      someMissing: ({ context }) => !context.opened,
      isExpected: ({ context, event }) => 'leg' in event && context.legs[event.leg] === 'expected',
      isLast: ({ context, event }) =>
        'leg' in event &&
        context.legs.every((status, leg) => (leg === event.leg ? status === 'expected' : status === 'completed')),
      takes: ({ context, event }) =>
        'leg' in event && context.legs[event.leg] === 'expected' && legs[event.leg]?.type !== 'credit',
      isTaken: ({ context, event }) => context.odd === null && 'leg' in event && context.legs[event.leg] !== 'expected',
      isOdd: ({ context }) => context.odd === null,
    },
    actions: {
      openAll: assign({ opened: true }),
      complete: assign(({ context, event }) => ({ legs: withLeg(context.legs, event, 'completed') })),
      fail: assign(({ context, event }) => ({ legs: withLeg(context.legs, event, 'failed') })),
      note: assign(({ event }) => ({ odd: labelOf(event) })),
    },
  })
  const late = {
    take_again: { guard: 'isOdd', actions: 'note' },
    revert_again: { guard: 'isOdd', actions: 'note' },
    register_again: { guard: 'isOdd', actions: 'note' },
  } as const
  return setUp.createMachine({
    context: { opened: missing.length === 0, legs: legs.map(() => 'expected'), odd: null },
    initial: 'absent',
    states: {
      absent: {
        on: {
          register: [{ guard: 'allThere', target: 'open' }, { target: 'turned_away' }],
        },
      },
      /** Absent again: the ID is free. */
      turned_away: {
        on: {
          take_again: { guard: 'isOdd', actions: 'note' },
          open_missing: { guard: 'someMissing', target: 'absent', actions: 'openAll' },
        },
      },
      open: {
        on: {
          take: [
            { guard: 'isLast', target: 'settled', actions: 'complete' },
            { guard: 'isExpected', actions: 'complete' },
          ],
          fail: { guard: 'takes', target: 'reverted', actions: 'fail' },
          time_out: { target: 'reverted' },
          revert: { target: 'reverted' },
          take_again: { guard: 'isTaken', actions: 'note' },
          register_again: { guard: 'isOdd', actions: 'note' },
        },
      },
      settled: { on: late },
      reverted: { on: late },
    },
  })
}

export type SceneSnapshot = SnapshotFrom<ReturnType<typeof sceneMachine>>

function withLeg(legs: readonly LegStatus[], event: Action, status: LegStatus): readonly LegStatus[] {
  return legs.map((before, leg) => ('leg' in event && event.leg === leg ? status : before))
}

export function labelOf(action: Action): string {
  return 'leg' in action ? `${action.type} ${action.leg}` : action.type
}

/** The reply to the client. `before`: the model's state before the request. */
export function answerTo(action: Action, before: SceneSnapshot): Answered {
  switch (action.type) {
    case 'register':
      return before.context.opened ? 'accepted' : 'refused'
    case 'take_again':
      return 'refused'
    case 'revert_again':
      return before.value === 'settled' ? 'refused' : 'accepted'
    default:
      return 'accepted'
  }
}

export interface SeenBalance {
  readonly balance: string
  readonly available: string
  readonly incoming: string
}

/** The visible state of an idle ledger. */
export interface Seen {
  /** `absent`, or its status. */
  readonly group: string
  readonly legs: readonly string[]
  /** Under the group ID, as `ann debit 4 completed`, sorted. */
  readonly transactions: readonly string[]
  readonly compensations: number
  readonly partialFailures: number
  /** null where there is no account. */
  readonly balances: { readonly [Of in Name]?: SeenBalance | null }
}

export function seenIn(scene: Scene, { value, context }: SceneSnapshot): Seen {
  const isThere = value !== 'absent' && value !== 'turned_away'
  const reverted = value === 'reverted'
  const transactions = scene.legs.flatMap((leg, index) =>
    transactionsOf(leg, context.legs[index] ?? 'expected', reverted),
  )
  return {
    group: value === 'turned_away' ? 'absent' : value,
    legs: isThere ? context.legs.map((status) => (reverted && status === 'completed' ? 'compensated' : status)) : [],
    transactions: transactions.sort(),
    compensations: reverted
      ? transactions.length - scene.legs.reduce((sum, leg, index) => sum + sidesOf(leg, context.legs[index]), 0)
      : 0,
    partialFailures: 0,
    balances: Object.fromEntries(
      scene.accounts.map((name) => [
        name,
        !context.opened && scene.missing.includes(name) ? null : balanceOf(name, scene, value, context),
      ]),
    ),
  }
}

/** How many transactions a leg's own parties see of it, before anything is undone. */
function sidesOf({ to }: ModelLeg, status: LegStatus | undefined): number {
  if (status === 'completed') return to === undefined ? 1 : 2
  return status === 'failed' ? 1 : 0
}

function transactionsOf(
  { account, type, amount, to }: ModelLeg,
  status: LegStatus,
  reverted: boolean,
): readonly string[] {
  if (status === 'expected') return []
  if (status === 'failed') return [`${account} ${type} ${amount} failed`]
  const sides = [
    `${account} ${type} ${amount} completed`,
    ...(to === undefined ? [] : [`${to} credit ${amount} completed`]),
  ]
  if (!reverted) return sides
  const undone = type === 'credit' ? 'debit' : 'credit'
  return [
    ...sides,
    `${account} ${undone} ${amount} completed`,
    ...(to === undefined ? [] : [`${to} debit ${amount} completed`]),
  ]
}

function balanceOf(
  name: Name,
  { legs }: Scene,
  value: SceneSnapshot['value'],
  { legs: statuses }: ModelContext,
): SeenBalance {
  let balance = FUNDS
  let incoming = 0
  for (const [index, { account, type, amount, to }] of legs.entries()) {
    if (account === name && statuses[index] === 'failed') balance -= FUNDS
    if (statuses[index] !== 'completed' || value === 'reverted') continue
    const comes = (account === name && type === 'credit') || to === name
    if (comes && value === 'settled') balance += amount
    else if (comes) incoming += amount
    if (account === name && type !== 'credit') balance -= amount
  }
  return { balance: `${balance}`, available: `${balance}`, incoming: `${incoming}` }
}
