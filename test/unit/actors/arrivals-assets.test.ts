/** Goal: tokens, classes and NFTs of another ledger are held by their homes, not there meanwhile, and taken once. */
import { describe, expect, test } from 'vitest'
import type { Answer } from '../../../actors/account/outcome.ts'
import { classAddress, instanceAddress, tokenAddress } from '../../../actors/address.ts'
import type {
  ArrivedFrom,
  ArrivingClass,
  ArrivingInstance,
  ArrivingToken,
  DropArrivalCommand,
  HoldArrivalCommand,
  TakeArrivalCommand,
} from '../../../actors/arrival.ts'
import { chainHash, GENESIS } from '../../../actors/audit-chain.ts'
import { formatQuantity } from '../../../actors/money.ts'
import { type AnyState, stepActor, type StepOutcome } from '../../../actors/step-actor.ts'
import { CALLER, registerClassCommand, registerTokenCommand, SALT, SIGNED, START_MS } from '../../support/accounts.ts'

const ADMIN = { ...CALLER, role: 'admin' } as const
const STAMP = { caller: ADMIN, atMs: START_MS, salt: SALT, newTxnId: 'txn_0' }
const FROM: ArrivedFrom = { ledgerId: 'there', importId: 'import-1', recordHash: 'a'.repeat(64) }
const LATER: ArrivedFrom = { ...FROM, importId: 'import-2' }

function answerOf(result: StepOutcome): string {
  if (result.kind === 'unverified' || result.kind === 'unlooked') return result.kind
  const answer: Answer | 'deferred' | null = result.answer
  if (answer === null || answer === 'deferred') return String(answer)
  if (answer.kind === 'arrival') return answer.state
  return answer.kind === 'refused' ? answer.code : answer.kind
}

type OtherCommand =
  | HoldArrivalCommand<ArrivingToken>
  | HoldArrivalCommand<ArrivingClass>
  | HoldArrivalCommand<ArrivingInstance>
  | TakeArrivalCommand
  | DropArrivalCommand

const EVENT_PAYLOAD = '{"mint":true}'
const INSTANCE: ArrivingInstance = {
  issuer: 'issuer',
  owner: 'owner',
  status: 'active',
  metadata: { colour: 'red' },
  mintedAtMs: 1_000,
  acquiredAtMs: 1_000,
  events: [
    {
      number: 0,
      type: 'mint',
      from: null,
      to: 'owner',
      txnId: 'txn_there',
      atMs: 1_000,
      previousHash: GENESIS,
      eventHash: chainHash(GENESIS, EVENT_PAYLOAD),
      payload: EVENT_PAYLOAD,
    },
  ],
}
const TOKEN: ArrivingToken = { tokenId: 'GOLD', decimals: 2, issuer: 'issuer', initialSupply: '10', totalSupply: '12' }
const CLASS: ArrivingClass = {
  classId: 'cls_01J00000000000000000000000',
  name: 'Cards',
  description: 'Cards to play with',
  issuer: 'issuer',
  metadataSchema: { type: 'object' },
}

const KINDS = [
  {
    name: 'token',
    address: tokenAddress('GOLD'),
    arrival: TOKEN,
    others: [
      [LATER, { ...TOKEN, decimals: 3 }],
      [LATER, { ...TOKEN, issuer: 'another' }],
      [LATER, { ...TOKEN, initialSupply: '11' }],
    ],
    held: 'preparing',
    native: registerTokenCommand(),
    taken: 'token_exists',
  },
  {
    name: 'class',
    address: classAddress('Cards'),
    arrival: CLASS,
    others: [
      [LATER, { ...CLASS, classId: 'cls_01J00000000000000000000001' }],
      [LATER, { ...CLASS, description: 'others' }],
    ],
    held: 'preparing',
    native: registerClassCommand({ name: 'Cards' }),
    taken: 'class_exists',
  },
  {
    name: 'instance',
    address: instanceAddress(`${CLASS.classId}/one`),
    arrival: INSTANCE,
    others: [[{ ...LATER, recordHash: 'b'.repeat(64) }, INSTANCE]],
    held: 'minting',
    native: {
      ...STAMP,
      type: 'mint_nft',
      txnId: 'txn_here',
      issuer: 'issuer',
      owner: 'owner',
      metadata: {},
    },
    taken: 'instance_exists',
  },
] as const

describe.each(KINDS)('a $name', ({ address, arrival, others, held, native, taken }) => {
  const holding = (from = FROM, what: unknown = arrival): OtherCommand =>
    ({ ...STAMP, type: 'hold_arrival', from, arrival: what }) as OtherCommand
  const taking = ({ importId } = FROM): OtherCommand => ({ ...STAMP, type: 'take_arrival', importId })
  const dropping = ({ importId } = FROM): OtherCommand => ({ ...STAMP, type: 'drop_arrival', importId })

  const step = (state: AnyState | null, command: OtherCommand) => stepActor(address, state, command, SIGNED)
  const stateAfter = (...commands: OtherCommand[]): AnyState | null => {
    let state: AnyState | null = null
    for (const command of commands) {
      const result = step(state, command)
      if (result.kind !== 'stepped') throw new Error(`${command.type} changed nothing`)
      state = result.state
    }
    return state
  }
  const say = (state: AnyState | null, command: OtherCommand): string => {
    const result = step(state, command)
    return `${result.kind} ${answerOf(result)}`
  }

  test('is held and not there, then taken, or dropped and gone', () => {
    expect(stateAfter(holding())).toMatchObject({ status: held, version: 1 })
    expect(stateAfter(holding(), taking())).toMatchObject({ status: 'active', version: 2 })
    expect(stateAfter(holding(), dropping())).toBeNull()
  })

  test('may be asked everything again, and does it once', () => {
    expect(say(stateAfter(holding()), holding())).toBe('answered held')
    expect(say(stateAfter(holding(), taking()), taking())).toBe('answered taken')
    expect(say(stateAfter(holding(), taking()), holding())).toBe('answered present')
    expect(say(stateAfter(holding(), taking()), dropping())).toBe('answered dropped')
    expect(say(null, dropping())).toBe('answered dropped')
    expect(say(null, taking())).toBe('answered arrival_not_held')
    expect(say(stateAfter(holding()), taking(LATER))).toBe('answered arrival_not_held')
    expect(say(stateAfter(holding()), dropping(LATER))).toBe('answered dropped')
  })

  test('is here already when it comes in another import', () => {
    const here = stateAfter(holding(), taking())
    expect(say(here, holding(LATER))).toBe('answered present')
    expect(say(here, taking(LATER))).toBe('answered taken')
  })

  test('is refused where there is another', () => {
    const here = stateAfter(holding(), taking())
    expect(say(here, holding({ ...LATER, ledgerId: 'elsewhere' }))).toBe(`answered ${taken}`)
    for (const [from, other] of others) expect(say(here, holding(from, other))).toBe(`answered ${taken}`)
    expect(say(stateAfter(holding()), holding(LATER))).toBe(`answered ${taken}`)
    const registering = stepActor(address, null, native, SIGNED)
    if (registering.kind !== 'stepped') throw new Error('it was not registered')
    expect(say(registering.state, holding())).toBe(`answered ${taken}`)
    expect(say(registering.state, taking())).toBe('answered arrival_not_held')
  })

  test('only administrators bring it', () => {
    for (const command of [holding(), taking(), dropping()]) {
      expect(say(null, { ...command, caller: CALLER })).toBe('answered not_allowed')
    }
  })
})

test('a token brings its supply from outside of the ledger, as much as nobody has of it yet', () => {
  const address = tokenAddress('GOLD')
  const held = stepActor(address, null, { ...STAMP, type: 'hold_arrival', from: FROM, arrival: TOKEN }, SIGNED)
  const state = held.kind === 'stepped' ? held.state : null
  const taken = stepActor(address, state, { ...STAMP, type: 'take_arrival', importId: FROM.importId }, SIGNED)
  const crossed = (taken.kind === 'stepped' ? taken.effects : []).flatMap((effect) =>
    effect.kind === 'boundary_crossed' ? [[effect.tokenId, formatQuantity(effect.quantity)]] : [],
  )
  expect(crossed).toEqual([['GOLD', '-12']])
  expect(held.kind === 'stepped' && held.effects).toEqual([])
})

describe('a token that comes again', () => {
  const address = tokenAddress('GOLD')
  const more = { ...TOKEN, totalSupply: '100' }
  const holding = (arrival: ArrivingToken, from: ArrivedFrom = LATER): HoldArrivalCommand<ArrivingToken> => ({
    ...STAMP,
    type: 'hold_arrival',
    from,
    arrival,
  })
  const taking = ({ importId } = LATER): TakeArrivalCommand => ({ ...STAMP, type: 'take_arrival', importId })
  const dropping = ({ importId } = LATER): DropArrivalCommand => ({ ...STAMP, type: 'drop_arrival', importId })
  const after = (...commands: Parameters<typeof stepActor>[2][]) => {
    let state: AnyState | null = null
    const crossed: string[] = []
    for (const command of commands) {
      const result = stepActor(address, state, command, SIGNED)
      if (result.kind !== 'stepped') throw new Error(`${command.type} changed nothing: ${answerOf(result)}`)
      state = result.state
      for (const effect of result.effects) {
        if (effect.kind === 'boundary_crossed') crossed.push(formatQuantity(effect.quantity))
      }
    }
    return { state, crossed }
  }
  const here = [holding(TOKEN, FROM), taking(FROM)] as const
  const say = (state: AnyState | null, command: Parameters<typeof stepActor>[2]) =>
    answerOf(stepActor(address, state, command, SIGNED))

  test('brings what was minted there since, once it is taken', () => {
    const held = after(...here, holding(more))
    expect(held.state).toMatchObject({ totalSupply: '12', status: 'active' })
    expect(say(held.state, holding(more))).toBe('held')
    const taken = after(...here, holding(more), taking())
    expect(taken.state).toMatchObject({ totalSupply: '100', arrived: { supply: '100', importId: FROM.importId } })
    expect(taken.state).not.toHaveProperty('growing')
    expect(taken.crossed).toEqual(['-12', '-88'])
    expect(say(taken.state, taking())).toBe('taken')
    expect(say(taken.state, holding(more))).toBe('present')
  })

  test('is as it was when that is dropped', () => {
    const { state, crossed } = after(...here, holding(more), dropping())
    expect(state).toMatchObject({ totalSupply: '12', arrived: { supply: '12' } })
    expect(state).not.toHaveProperty('growing')
    expect(crossed).toEqual(['-12'])
  })

  test('takes nothing away where some was burned there', () => {
    expect(say(after(...here).state, holding({ ...TOKEN, totalSupply: '5' }))).toBe('present')
  })

  test('keeps room for what is held, and refuses what has none', () => {
    const nearly = { ...TOKEN, totalSupply: '999999999999999999' }
    const held = after(...here, holding(nearly)).state
    const mint = {
      ...STAMP,
      type: 'change_supply',
      txnId: 't',
      accountId: 'issuer',
      change: 'mint',
      amount: '1',
    } as const
    expect(stepActor(address, held, mint, SIGNED)).toMatchObject({
      effects: [{ envelope: { message: { failure: { code: 'supply_limit' } } } }],
    })
    const minted = after(...here, mint).state
    expect(say(minted, holding(nearly))).toBe('supply_limit')
    expect(say(held, holding(more, { ...LATER, importId: 'import-3' }))).toBe('token_exists')
  })
})

test('an NFT brings its whole history, and goes on from its last entry', () => {
  const address = instanceAddress(`${CLASS.classId}/one`)
  const held = stepActor(address, null, { ...STAMP, type: 'hold_arrival', from: FROM, arrival: INSTANCE }, SIGNED)
  const state = held.kind === 'stepped' ? held.state : null
  const taken = stepActor(address, state, { ...STAMP, type: 'take_arrival', importId: FROM.importId }, SIGNED)
  expect(taken).toMatchObject({
    state: { owner: 'owner', events: 1, tip: INSTANCE.events[0]?.eventHash, arrived: { events: 1 } },
    effects: [{ kind: 'nft_event', event: INSTANCE.events[0] }],
  })
  expect(taken.kind === 'stepped' && taken.state).not.toHaveProperty('arriving')
})

test('the ID of an NFT that is held is taken', () => {
  const nft = instanceAddress(`${CLASS.classId}/one`)
  const held = stepActor(nft, null, { ...STAMP, type: 'hold_arrival', from: FROM, arrival: INSTANCE }, SIGNED)
  const state = held.kind === 'stepped' ? held.state : null
  const mint = { ...STAMP, type: 'mint_nft', txnId: 't', issuer: 'issuer', owner: 'x', metadata: {} } as const
  const again = stepActor(nft, state, mint, SIGNED)
  expect(again).toMatchObject({ effects: [{ envelope: { message: { refused: { code: 'instance_exists' } } } }] })
})
