/**
 * Exchanges of one group ID as their two parties see them: a model of the interface without messages, and the paths through
 * it. Ann gives EUR for Bob's USD. An offer waits for its mirror until its time has come; the mirror of one that expired fails.
 */
import { assign, setup } from 'xstate'
import { getSimplePaths } from 'xstate/graph'
import type { PathStep } from './group-driver.ts'

export const PARTIES = ['ann', 'bob'] as const
export type Party = (typeof PARTIES)[number]

/** Initial balance of each party, in the token that it issued. */
export const FUNDS = 10
/** In a path: two of either party use up its funds, a third fails. */
const MAX_OFFERS = 3

/** `as_agreed`: the mirror of what the other party offers as agreed. `otherwise`: of nothing. */
type Offer = `${Party} ${'as_agreed' | 'otherwise'}`
const OFFERS = ['ann as_agreed', 'bob as_agreed', 'ann otherwise', 'bob otherwise'] as const

export type Action =
  | { readonly type: 'offer'; readonly offer: Offer }
  /** The time of all offers passes. Once in a path. */
  | { readonly type: 'expire' }

export const TOKENS = ['EUR', 'USD'] as const

interface Side {
  readonly token: (typeof TOKENS)[number]
  readonly amount: number
}

const AGREED = { ann: { token: 'EUR', amount: 4 }, bob: { token: 'USD', amount: 3 } } as const
const OTHERWISE = { ann: { token: 'EUR', amount: 5 }, bob: { token: 'USD', amount: 5 } } as const

export function termsOf(offer: Offer): { readonly by: Party; readonly gives: Side; readonly receives: Side } {
  const [by, kind] = offer.split(' ') as [Party, string]
  return { by, gives: (kind === 'otherwise' ? OTHERWISE : AGREED)[by], receives: AGREED[otherThan(by)] }
}

export function otherThan(party: Party): Party {
  return party === 'ann' ? 'bob' : 'ann'
}

interface Made {
  readonly offer: Offer
  readonly status: 'pending' | 'completed' | 'failed'
}

interface ModelContext {
  readonly made: readonly Made[]
  /** Offers whose time came before their mirror did. */
  readonly expired: readonly Offer[] | null
}

const NOTHING: ModelContext = { made: [], expired: null }

/** The visible state of an idle ledger. */
export interface Seen {
  /** As `ann EUR 4 pending`, sorted. */
  readonly transactions: readonly string[]
  /** Balance and what of it can be spent, as `ann EUR 10 6`. */
  readonly balances: readonly string[]
}

const machine = setup({
  types: { context: {} as ModelContext, events: {} as Action },
  guards: {
    mayOffer: ({ context }) => context.made.length < MAX_OFFERS,
    mayExpire: ({ context }) => context.expired === null && context.made.length > 0,
  },
  actions: {
    offer: assign(({ context, event }) => (event.type === 'offer' ? offered(context, event.offer) : context)),
    expire: assign(({ context: { made } }) => ({
      made: made.map((one) => (one.status === 'pending' ? { ...one, status: 'failed' as const } : one)),
      expired: made.filter(({ status }) => status === 'pending').map(({ offer }) => offer),
    })),
  },
}).createMachine({
  context: NOTHING,
  on: { offer: { guard: 'mayOffer', actions: 'offer' }, expire: { guard: 'mayExpire', actions: 'expire' } },
})

function offered({ made, expired }: ModelContext, offer: Offer): ModelContext {
  const { by, gives } = termsOf(offer)
  const mirror = `${otherThan(by)} as_agreed` as const
  const isMirror = (other: Offer): boolean => offer === `${by} as_agreed` && other === mirror
  if (availableOf(made, by) < gives.amount) return { made: [...made, { offer, status: 'failed' }], expired }
  const at = made.findIndex((one) => one.status === 'pending' && isMirror(one.offer))
  if (at >= 0) {
    const paired = made.map((one, index) => (index === at ? { ...one, status: 'completed' as const } : one))
    return { made: [...paired, { offer, status: 'completed' }], expired }
  }
  const status = expired?.some(isMirror) === true ? 'failed' : 'pending'
  return { made: [...made, { offer, status }], expired }
}

function balanceOf(made: readonly Made[], party: Party, token: Side['token']): number {
  const own = AGREED[party].token === token ? FUNDS : 0
  return made
    .filter(({ offer, status }) => status === 'completed' && termsOf(offer).by === party)
    .map(({ offer }) => termsOf(offer))
    .reduce((sum, { gives, receives }) => sum + (gives.token === token ? -gives.amount : receives.amount), own)
}

function availableOf(made: readonly Made[], party: Party, token: Side['token'] = AGREED[party].token): number {
  return made
    .filter(({ offer, status }) => status === 'pending' && termsOf(offer).by === party)
    .filter(({ offer }) => termsOf(offer).gives.token === token)
    .reduce((sum, { offer }) => sum - termsOf(offer).gives.amount, balanceOf(made, party, token))
}

function seenIn({ made }: ModelContext): Seen {
  return {
    transactions: made
      .map(({ offer, status }) => {
        const { by, gives } = termsOf(offer)
        return `${by} ${gives.token} ${gives.amount} ${status}`
      })
      .sort(),
    balances: PARTIES.flatMap((party) =>
      TOKENS.map((token) => `${party} ${token} ${balanceOf(made, party, token)} ${availableOf(made, party, token)}`),
    ),
  }
}

/** All that make as many offers as a path may. */
export function exchangePaths(): readonly (readonly PathStep<Action, Seen>[])[] {
  const events: readonly Action[] = [...OFFERS.map((offer) => ({ type: 'offer', offer }) as const), { type: 'expire' }]
  return getSimplePaths(machine, { events, serializeState: ({ context }) => JSON.stringify(context) })
    .filter(({ state }) => state.context.made.length === MAX_OFFERS)
    .map(({ steps }) =>
      steps
        .filter(({ event }) => events.includes(event))
        .map(({ event: action, state }) => ({ action, answer: 'accepted', seen: seenIn(state.context) })),
    )
}
