/**
 * Tests E1 to E5 of import-driver.ts: all or nothing, exactly once, despite crashes at any point. The actors are
 * simulated (fake-homes.ts).
 */
import { describe, expect, test, vi } from 'vitest'
import { foldedName } from '../../../actors/nft-class/state.ts'
import type { GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import type { ImportOutcome } from '../../../runtime/ports/ledger-imports.ts'
import type { FakeServiceKeys } from '../api/fakes/fake-service-keys.ts'
import { anAccount, ledgerBody, TOKEN_BODY } from './export-scene.ts'
import type { Fate } from './fake-homes.ts'
import { aClass, anInstance, fileOf, IMPORT_ID, partsOf, wholeFile } from './import-scene.ts'
import {
  Died,
  dyingAt,
  expectAllOrNothing,
  expectAllTaken,
  expectNothingTaken,
  hesitating,
  PART_LINES,
  stagedWorld,
  type World,
} from './import-world.ts'

/** Waits on real time: the duration depends on the machine. */
const PATIENTLY = { timeout: 180_000 }
const file = await fileOf()
const ANOTHER = 'aaaaaaaa-3d47-4e58-8a69-0b1c2d3e4f50'
const THIRD = 'bbbbbbbb-3d47-4e58-8a69-0b1c2d3e4f50'

/** Sends all parts of the file to an edge, and returns its last reply. */
async function sent(edge: ReturnType<World['edge']>, { records }: typeof file, importId = ANOTHER) {
  let outcome: ImportOutcome | undefined
  for (const part of partsOf(records, PART_LINES, importId)) outcome = await edge.send(part)
  return outcome
}

/** Drives the import until the driver crashes at this step, or to its end. */
async function crashed(world: World, number: number): Promise<void> {
  await Promise.allSettled([world.edge(dyingAt(number).step).drive()])
}

function refusing(name: string): (request: GatewayRequest) => Fate {
  return ({ operation, actor }) =>
    operation.kind === 'hold_arrival' && actor.id.includes(name) ? 'refused' : 'answered'
}

describe('the drive of an import', () => {
  test('stages everything before applying anything, and notes used keys before their account', async () => {
    const world = await stagedWorld(file)
    await world.edge().drive()
    expectAllTaken(world)
    expect(world.store.history).toEqual(['staging', 'checking', 'applying', 'taking', 'done'])
    const kinds = world.homes.asked.map(({ operation, actor }) => `${operation.kind} ${actor.kind}`)
    const [firstTaken, lastHeld] = [
      kinds.findIndex((kind) => kind.startsWith('take')),
      kinds.findLastIndex((kind) => kind.startsWith('hold')),
    ]
    expect(lastHeld).toBeLessThan(firstTaken)
    expect(kinds.findLastIndex((kind) => kind.startsWith('note'))).toBeLessThan(kinds.indexOf('take_arrival account'))
    const order = kinds.filter((kind) => kind.startsWith('take'))
    expect(order.indexOf('take_arrival token')).toBeLessThan(order.indexOf('take_arrival instance'))
    expect(order.lastIndexOf('take_arrival account')).toBeLessThan(order.indexOf('take_arrival instance'))
    expect(world.store.imports.get(IMPORT_ID)?.head.summary).toEqual({
      accounts: 2,
      tokens: 1,
      nftClasses: 1,
      nftInstances: 2,
      attestations: 1,
      present: 0,
    })
  })

  test('the arrival at an actor is the content of its record', async () => {
    const world = await stagedWorld(file)
    await world.edge().drive()
    const held = (name: string) =>
      world.homes.asked.find(({ actor, operation }) => operation.kind === 'hold_arrival' && actor.id.includes(name))
    expect(held('alice')?.operation).toMatchObject({
      from: { ledgerId: file.records[0]?.['ledger_id'], importId: IMPORT_ID },
      arrival: {
        account: {
          key: null,
          balances: { GOLD: '5', BASE: '1.5' },
          nfts: 0,
          keySalt: '0123456789abcdef0123456789abcdef',
          txnCount: 3,
          tip: 'ab'.repeat(32),
        },
      },
    })
    expect(held('bob')?.operation).toMatchObject({ arrival: { account: { nfts: 1 } } })
    expect([...world.attestedBy]).toEqual([file.records[0]?.['ledger_id']])
    expect(held('mint')?.operation).toMatchObject({ arrival: { kind: 'account', account: null } })
    expect(held('milkmaid')?.operation).toMatchObject({
      arrival: {
        instance: { issuer: 'alice', owner: 'bob', status: 'active', events: [{ number: 0 }, { number: 1 }] },
      },
    })
  })

  test('E1: it is all or nothing wherever a driver crashes and another continues', async () => {
    const whole = dyingAt(Number.POSITIVE_INFINITY)
    await (await stagedWorld(file)).edge(whole.step).drive()
    expect(whole.steps()).toBeGreaterThan(40)
    for (let number = 0; number < whole.steps(); number += 1) {
      const world = await stagedWorld(file)
      await expect(world.edge(dyingAt(number).step).drive()).rejects.toThrow(Died)
      await world.edge().drive()
      expectAllTaken(world)
    }
  })

  test('E1: it is all or nothing when the second driver crashes, too', async () => {
    for (let first = 0; first < 60; first += 7) {
      for (let second = 0; second < 60; second += 11) {
        const world = await stagedWorld(file)
        for (const number of [first, second]) await crashed(world, number)
        await world.edge().drive()
        expectAllTaken(world)
      }
    }
  })

  test('E2: a refusal by any actor drops everything, wherever the driver crashes', async () => {
    const detail = expect.stringMatching(/^line \d: There is another\.$/) as string
    for (const name of ['mint', 'gold', 'paintings', 'milkmaid', 'alice', 'bob']) {
      for (let number = 0; number < 50; number += 3) {
        const world = await stagedWorld(file)
        world.homes.fate = refusing(name)
        await crashed(world, number)
        await world.edge().drive()
        expectNothingTaken(world)
        expect(world.store.imports.get(IMPORT_ID)?.head.refusal).toMatchObject({ kind: 'exists', detail })
      }
    }
  })

  test('lost replies and lost requests change nothing', async () => {
    for (let seed = 1; seed < 12; seed += 1) {
      const world = await stagedWorld(file)
      let count = seed
      world.homes.fate = () => {
        count = (count * 1_103_515_245 + 12_345) % 2 ** 31
        return (['answered', 'lost', 'dropped'] as const)[Math.floor(count / 7) % 3] ?? 'answered'
      }
      await world.edge().drive()
      expectAllTaken(world)
    }
  })

  test('two concurrent drivers and a crashed one apply everything once', async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const world = await stagedWorld(file)
      const dying = dyingAt(seed)
      const hesitate = hesitating(seed + 100)
      await Promise.all([
        world.edge(hesitating(seed)).drive(),
        world.edge(hesitating(seed + 50)).drive(),
        world
          .edge(async () => (await hesitate(), dying.step()))
          .drive()
          .catch(() => undefined),
      ])
      expectAllTaken(world)
    }
  })

  test('E2: two concurrent drivers, one of them refused, apply all or nothing', async () => {
    const ends = new Set<string | undefined>()
    for (let seed = 1; seed <= 60; seed += 1) {
      const world = await stagedWorld(file)
      let refusals = 1
      // A home that refuses one of them and would not have refused the other: worse than any.
      world.homes.fate = async ({ operation, actor }) => {
        await hesitating(seed)()
        if (operation.kind !== 'hold_arrival' || actor.id !== 'bob' || refusals === 0) return 'answered'
        refusals -= 1
        return 'refused'
      }
      await Promise.all([world.edge(hesitating(seed)).drive(), world.edge(hesitating(seed + 50)).drive()])
      expectAllOrNothing(world)
      ends.add(world.store.imports.get(IMPORT_ID)?.head.status)
    }
    expect([...ends]).toContain('refused')
  })

  test('E4: a request in flight at the refusal is dropped after its arrival', async () => {
    const world = await stagedWorld(file)
    let late: GatewayRequest | undefined
    world.homes.fate = (request) => {
      const { operation, actor } = request
      if (operation.kind !== 'hold_arrival') return 'answered'
      if (actor.id === 'alice' && late === undefined) {
        late = request
        throw new Died()
      }
      return actor.id === 'bob' ? 'refused' : 'answered'
    }
    await expect(world.edge().drive()).rejects.toThrow(Died)
    await world.edge().drive()
    expectNothingTaken(world)
    if (late === undefined) throw new Error('nothing was on its way')
    world.homes.deliver(late)
    expect(world.homes.homes.get('alice')?.held).not.toBeNull()
    const { takeup } = world.edge()
    await takeup.look()
    expect(world.homes.homes.get('alice')?.held).not.toBeNull()
    world.clock.elapse(60_000)
    await takeup.look()
    await vi.waitFor(() => expect(world.store.imports.get(IMPORT_ID)?.settled).toBe(true), PATIENTLY)
    expectNothingTaken(world)
  })

  test('E4: a driver delayed past the refusal stages nothing more and drops its records', async () => {
    const world = await stagedWorld(file)
    let heldUp = false
    let asked = 0
    world.homes.fate = async ({ operation, actor }): Promise<Fate> => {
      if (operation.kind !== 'hold_arrival' || heldUp || actor.id !== 'alice') return 'answered'
      heldUp = true
      // Meanwhile another driver is refused, and drops everything.
      const other = world.edge()
      world.homes.fate = refusing('bob')
      await other.drive()
      world.homes.fate = () => 'answered'
      world.clock.elapse(10_000)
      asked = world.homes.asked.length
      return 'dropped'
    }
    await world.edge().drive()
    expectNothingTaken(world)
    const kinds = world.homes.asked.slice(asked).map(({ operation }) => operation.kind)
    expect([...new Set(kinds)]).toEqual(['drop_arrival'])
  })

  test('a second export of the same state changes nothing and is counted as present', async () => {
    const world = await stagedWorld(file)
    await world.edge().drive()
    // Its proofs in the log are other ones: the log has grown.
    const proof = { salt: `${'A'.repeat(43)}=`, index: 7, hashes: [] }
    const later = (keys: FakeServiceKeys) =>
      wholeFile(keys).map((body) => (body.record === 'account' ? { ...body, log_proof: proof } : body))
    const outcome = await sent(world.edge(), await fileOf(later, file.keys))
    expect(outcome).toMatchObject({ phase: 'done', summary: { accounts: 2, present: 7 } })
    expectAllTaken(world)
  })

  test('a record with an existing ID and other content refuses the import', async () => {
    const world = await stagedWorld(file)
    await world.edge().drive()
    const other = await fileOf(
      () => [ledgerBody(), TOKEN_BODY, anAccount('alice', { GOLD: '6' }), anAccount('carol', { GOLD: '1' })],
      file.keys,
    )
    expect(await sent(world.edge(), other)).toMatchObject({ kind: 'exists', field: 'lines[2]' })
    expect(world.homes.homes.get('carol')).toMatchObject({ held: null, taken: 0 })
    expect(world.homes.homes.get('alice')?.taken).toBe(1)
  })

  test('E3: an NFT whose owner existed here without it refuses the import', async () => {
    const alone = await fileOf(() => [ledgerBody(), anAccount('alice')], file.keys)
    const world = await stagedWorld(alone)
    await world.edge().drive()
    const withNft = await fileOf(
      () => [ledgerBody(), aClass(), anInstance('milkmaid', ['alice']), anAccount('alice')],
      file.keys,
    )
    expect(await sent(world.edge(), withNft)).toMatchObject({ kind: 'exists', field: 'lines[2].owner' })
    expect(world.homes.homes.get(`class ${foldedName('Paintings')}`)).toMatchObject({ held: null, taken: 0 })
    expect(world.homes.homes.get('alice')?.taken).toBe(1)
  })

  test('E3: an existing NFT is not given to a new owner', async () => {
    const bodies = [aClass(), anInstance('milkmaid', ['alice'])]
    const first = await fileOf(() => [ledgerBody(), ...bodies, anAccount('alice')], file.keys)
    const world = await stagedWorld(first)
    await world.edge().drive()
    world.homes.homes.delete('alice')
    expect(await sent(world.edge(), first)).toMatchObject({ kind: 'exists', field: 'lines[2].owner' })
    expect(world.homes.homes.get('alice')).toMatchObject({ held: null, taken: 0 })
  })

  describe('E5: with a supply of 1,000 GOLD', () => {
    const bring = (quantities: Readonly<Record<string, string>>) =>
      fileOf(
        () => [
          ledgerBody(),
          { ...TOKEN_BODY, total_supply: '1000' },
          ...Object.entries(quantities).map(([accountId, quantity]) => anAccount(accountId, { GOLD: quantity })),
        ],
        file.keys,
      )

    async function broughtBefore(quantities: Readonly<Record<string, string>>): Promise<World> {
      const world = await stagedWorld(await bring(quantities))
      await world.edge().drive()
      return world
    }

    test('a copied account must not have paid an account that comes later', async () => {
      const world = await broughtBefore({ alice: '970', bob: '30' })
      expect(await sent(world.edge(), await bring({ carol: '5' }))).toEqual({
        kind: 'exists',
        field: 'lines[1].total_supply',
        detail:
          'line 1: all imports together would bring 1005 GOLD, but its supply is 1000. ' +
          'Accounts of this file were paid by accounts that were copied here before.',
      })
      expect(world.homes.homes.get('carol')).toMatchObject({ held: null, taken: 0 })
    })

    test('the whole supply may come account by account; existing accounts bring nothing', async () => {
      const world = await broughtBefore({ alice: '600' })
      const all = await bring({ alice: '600', bob: '400' })
      expect(await sent(world.edge(), all)).toMatchObject({ phase: 'done' })
      expect(await sent(world.edge(), await bring({ carol: '0.01' }), THIRD)).toMatchObject({ kind: 'exists' })
    })

    test('a refused import has brought nothing', async () => {
      const world = await broughtBefore({ alice: '600' })
      expect(await sent(world.edge(), await bring({ bob: '500' }))).toMatchObject({ kind: 'exists' })
      expect(await sent(world.edge(), await bring({ bob: '400' }), THIRD)).toMatchObject({ phase: 'done' })
    })

    test('of two concurrent imports that exceed the supply together, one is accepted', async () => {
      for (let seed = 1; seed <= 30; seed += 1) {
        const world = await broughtBefore({ alice: '600' })
        const files = [await bring({ bob: '300' }), await bring({ carol: '300' })]
        const outcomes = await Promise.all(
          files.map(async (each, number) => {
            const end = await sent(world.edge(hesitating(seed + 50 * number)), each, [ANOTHER, THIRD][number])
            return end !== undefined && 'phase' in end ? end.phase : end?.kind
          }),
        )
        expect(new Set(outcomes)).toEqual(new Set(['done', 'exists']))
      }
    })
  })

  test('an import is taken over after half a minute without a driver, not earlier', async () => {
    const world = await stagedWorld(file)
    const { takeup } = world.edge()
    world.clock.elapse(29_999)
    await takeup.look()
    expect(world.homes.asked).toEqual([])
    world.clock.elapse(1)
    await takeup.look()
    await vi.waitFor(() => expectAllTaken(world), PATIENTLY)
  })

  test('an incomplete import is dropped after a day', async () => {
    const world = await stagedWorld(file, partsOf(file.records, PART_LINES).slice(0, 2))
    const { takeup } = world.edge()
    world.clock.elapse(86_399_999)
    await takeup.look()
    expect(world.store.imports.size).toBe(1)
    world.clock.elapse(1)
    await takeup.look()
    expect(world.store.imports.size).toBe(0)
  })

  test('a refusal after the decision is an error, and is retried', async () => {
    const world = await stagedWorld(file)
    let broken = true
    world.homes.fate = ({ operation }) => (operation.kind === 'take_arrival' && broken ? 'refused' : 'answered')
    await expect(world.edge().drive()).rejects.toThrow('an actor refused take_arrival')
    expect(world.store.imports.get(IMPORT_ID)?.head.status).toBe('taking')
    broken = false
    await world.edge().drive()
    expectAllTaken(world)
  })
})
