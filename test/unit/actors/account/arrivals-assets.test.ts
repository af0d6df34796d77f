/** Homes stage imported tokens, classes and NFTs: staged assets stay invisible, and each is applied once. */
import { describe, expect, test } from 'vitest'
import type { Answer, Effect } from '../../../../actors/account/outcome.ts'
import { type ActorAddress, classAddress, instanceAddress, tokenAddress } from '../../../../actors/address.ts'
import type {
  ArrivedFrom,
  ArrivingClass,
  ArrivingInstance,
  ArrivingToken,
  DropArrivalCommand,
  HoldArrivalCommand,
  TakeArrivalCommand,
} from '../../../../actors/arrival.ts'
import { chainHash, GENESIS } from '../../../../actors/audit-chain.ts'
import { formatQuantity } from '../../../../actors/money.ts'
import { type AnyCommand, type AnyState, stepActor, type StepOutcome } from '../../../../actors/step-actor.ts'
import {
  CALLER,
  registerClassCommand,
  registerTokenCommand,
  SALT,
  SIGNED,
  START_MS,
} from '../../../support/accounts.ts'

const ADMIN = { ...CALLER, role: 'admin' } as const
const STAMP = { caller: ADMIN, atMs: START_MS, salt: SALT, newTxnId: 'txn_0' }
const FROM: ArrivedFrom = { ledgerId: 'there', importId: 'import-1', recordHash: 'a'.repeat(64) }
const LATER: ArrivedFrom = { ...FROM, importId: 'import-2' }

function answerOf(result: StepOutcome): string {
  if (result.kind === 'unverified' || result.kind === 'stale_look_up') return result.kind
  const answer: Answer | 'deferred' | null = result.answer
  if (answer === null || answer === 'deferred') return String(answer)
  if (answer.kind === 'arrival') return answer.state
  return answer.kind === 'refused' ? answer.code : answer.kind
}

type Arriving = ArrivingToken | ArrivingClass | ArrivingInstance

const holding = (arrival: Arriving, from = FROM) => {
  return { ...STAMP, type: 'hold_arrival', from, arrival } as HoldArrivalCommand<never>
}
const taking = ({ importId } = FROM): TakeArrivalCommand => ({ ...STAMP, type: 'take_arrival', importId })
const dropping = ({ importId } = FROM): DropArrivalCommand => ({ ...STAMP, type: 'drop_arrival', importId })

/** Applies commands that each change the actor; returns its state and effects. */
function after(address: ActorAddress, ...commands: readonly AnyCommand[]) {
  let state: AnyState | null = null
  const effects: Effect[] = []
  for (const command of commands) {
    const result = stepActor(address, state, command, SIGNED)
    if (result.kind !== 'stepped') throw new Error(`${command.type} changed nothing: ${answerOf(result)}`)
    state = result.state
    effects.push(...result.effects)
  }
  return { state, effects }
}

function crossed({ effects }: ReturnType<typeof after>): readonly string[] {
  return effects.flatMap((effect) => (effect.kind === 'boundary_crossed' ? [formatQuantity(effect.quantity)] : []))
}

const EVENT_PAYLOAD = '{"mint":true}'
const INSTANCE: ArrivingInstance = {
  issuer: 'issuer',
  owner: 'owner',
  status: 'active',
  metadata: { color: 'red' },
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
  const HELD = [holding(arrival)] as const
  const HERE = [holding(arrival), taking()] as const
  const say = (before: readonly AnyCommand[], command: AnyCommand): string => {
    const result = stepActor(address, after(address, ...before).state, command, SIGNED)
    return `${result.kind} ${answerOf(result)}`
  }

  test('is staged and invisible, then applied or dropped', () => {
    expect(after(address, ...HELD).state).toMatchObject({ status: held, version: 1 })
    expect(after(address, ...HERE).state).toMatchObject({ status: 'active', version: 2 })
    expect(after(address, ...HELD, dropping()).state).toBeNull()
  })

  test('handles repeated requests once, also in another import', () => {
    expect(say(HELD, holding(arrival))).toBe('answered held')
    expect(say(HERE, taking())).toBe('answered taken')
    expect(say(HERE, holding(arrival))).toBe('answered present')
    expect(say(HERE, dropping())).toBe('answered dropped')
    expect(say([], dropping())).toBe('answered dropped')
    expect(say([], taking())).toBe('answered arrival_not_held')
    expect(say(HELD, taking(LATER))).toBe('answered arrival_not_held')
    expect(say(HELD, dropping(LATER))).toBe('answered dropped')
    expect(say(HERE, holding(arrival, LATER))).toBe('answered present')
    expect(say(HERE, taking(LATER))).toBe('answered taken')
  })

  test('is refused where there is another', () => {
    expect(say(HERE, holding(arrival, { ...LATER, ledgerId: 'elsewhere' }))).toBe(`answered ${taken}`)
    for (const [from, other] of others) expect(say(HERE, holding(other, from))).toBe(`answered ${taken}`)
    expect(say(HELD, holding(arrival, LATER))).toBe(`answered ${taken}`)
    expect(say([native], holding(arrival))).toBe(`answered ${taken}`)
    expect(say([native], taking())).toBe('answered arrival_not_held')
  })

  test('is imported by administrators only', () => {
    for (const command of [holding(arrival), taking(), dropping()]) {
      expect(say([], { ...command, caller: CALLER })).toBe('answered not_allowed')
    }
  })
})

describe('a token', () => {
  const address = tokenAddress('GOLD')
  const HERE = [holding(TOKEN), taking()] as const
  const more = holding({ ...TOKEN, totalSupply: '100' }, LATER)
  const say = (state: AnyState | null, command: AnyCommand) => answerOf(stepActor(address, state, command, SIGNED))

  test('adds its supply as value at external accounts', () => {
    expect(crossed(after(address, holding(TOKEN)))).toEqual([])
    expect(crossed(after(address, ...HERE))).toEqual(['-12'])
  })

  test('that comes again brings what was minted there since, once it is taken', () => {
    const held = after(address, ...HERE, more)
    expect(held.state).toMatchObject({ totalSupply: '12', status: 'active' })
    expect(say(held.state, more)).toBe('held')
    const taken = after(address, ...HERE, more, taking(LATER))
    expect(taken.state).toMatchObject({ totalSupply: '100', arrived: { supply: '100', importId: FROM.importId } })
    expect(taken.state).not.toHaveProperty('growing')
    expect(crossed(taken)).toEqual(['-12', '-88'])
    expect(say(taken.state, taking(LATER))).toBe('taken')
    expect(say(taken.state, more)).toBe('present')
  })

  test('that comes again is as it was when that is dropped', () => {
    const dropped = after(address, ...HERE, more, dropping(LATER))
    expect(dropped.state).toMatchObject({ totalSupply: '12', arrived: { supply: '12' } })
    expect(dropped.state).not.toHaveProperty('growing')
    expect(crossed(dropped)).toEqual(['-12'])
  })

  test('that comes again with less takes nothing away: some was burned there', () => {
    expect(say(after(address, ...HERE).state, holding({ ...TOKEN, totalSupply: '5' }, LATER))).toBe('present')
  })

  test('keeps room for what is held, and refuses what has none', () => {
    const nearly = holding({ ...TOKEN, totalSupply: '999999999999999999' }, LATER)
    const held = after(address, ...HERE, nearly).state
    const supply = { txnId: 't', accountId: 'issuer', change: 'mint', amount: '1' } as const
    const mint = { ...STAMP, type: 'change_supply', ...supply } as const
    expect(stepActor(address, held, mint, SIGNED)).toMatchObject({
      effects: [{ envelope: { message: { failure: { code: 'supply_limit' } } } }],
    })
    expect(say(after(address, ...HERE, mint).state, nearly)).toBe('supply_limit')
    expect(say(held, { ...more, from: { ...LATER, importId: 'import-3' } })).toBe('token_exists')
  })
})

describe('an NFT', () => {
  const address = instanceAddress(`${CLASS.classId}/one`)

  test('keeps its whole history and continues from its last entry', () => {
    const { state, effects } = after(address, holding(INSTANCE), taking())
    expect(state).toMatchObject({
      owner: 'owner',
      events: 1,
      tip: INSTANCE.events[0]?.eventHash,
      arrived: { events: 1 },
    })
    expect(effects).toMatchObject([{ kind: 'nft_event', event: INSTANCE.events[0] }])
    expect(state).not.toHaveProperty('arriving')
  })

  const say = (before: readonly AnyCommand[], command: AnyCommand) =>
    answerOf(stepActor(address, after(address, ...before).state, command, SIGNED))

  test('that was burned is imported as burned', () => {
    const burned: ArrivingInstance = { ...INSTANCE, status: 'burned' }
    const here = [holding(burned), taking()]
    expect(after(address, ...here).state).toMatchObject({ status: 'burned', version: 2 })
    expect(say(here, taking())).toBe('taken')
    expect(say(here, holding(burned, LATER))).toBe('present')
    expect(say([holding(burned)], taking(LATER))).toBe('arrival_not_held')
  })

  const MINTED: readonly AnyCommand[] = [
    { ...STAMP, type: 'mint_nft', txnId: 't', issuer: 'issuer', owner: 'owner', metadata: {} },
    { ...STAMP, type: 'nft_received', txnId: 't', failure: null, counterTxnId: null },
  ]
  const PLAIN = { groupId: null, metadata: null, expiresAtMs: null, compensates: null }
  const MOVE: AnyCommand = { ...STAMP, ...PLAIN, type: 'move_nft', txnId: 'm', accountId: 'owner', toAccountId: 'x' }
  const BURN: AnyCommand = { ...STAMP, ...PLAIN, type: 'burn_nft', txnId: 'b', accountId: 'owner' }

  test.each([
    ['active', []],
    ['held', [MOVE]],
    ['burned', [BURN]],
  ])('that is %s is told by where it came from', (status, since) => {
    const minted = [...MINTED, ...since]
    expect(after(address, ...minted).state).toMatchObject({ status })
    expect(say(minted, taking())).toBe('arrival_not_held')
    expect(say(minted, dropping())).toBe('dropped')
    expect(say(minted, holding(INSTANCE))).toBe('instance_exists')

    const arrived = [holding(INSTANCE), taking(), ...since]
    expect(after(address, ...arrived).state).toMatchObject({ status })
    expect(say(arrived, taking())).toBe('taken')
    expect(say(arrived, dropping())).toBe('dropped')
    expect(say(arrived, holding(INSTANCE, LATER))).toBe('present')
    expect(say(arrived, holding(INSTANCE, { ...LATER, recordHash: 'b'.repeat(64) }))).toBe('instance_exists')
  })

  test('reserves its ID while it is staged', () => {
    expect(after(address, holding(INSTANCE), ...MINTED.slice(0, 1)).effects).toMatchObject([
      { envelope: { message: { refused: { code: 'instance_exists' } } } },
    ])
  })
})
