/**
 * What must be known before a command can be stepped: its account, what its key did before, whether it is signed.
 * One query asks for everything that has gathered; signatures are checked meanwhile on the thread pool.
 *   K1. Commands leave in the order in which they came, whatever comes back first.
 *   K2. A look-up's findings hang on the incarnation that asked; for another they are dropped.
 *   K3. A key that memory knows is not asked for: its answer goes with the command at once.
 *   K4. A message whose actor is in memory needs nothing more: it waits for no look-up, unless one of its shard is under
 *       way before it (K1).
 */
import type { AccountKey } from '../../actors/account/state.ts'
import type { ActorAddress } from '../../actors/address.ts'
import type { AnyState } from '../../actors/step-actor.ts'
import { BriefMap } from '../brief-map.ts'
import type { Clock } from '../ports/clock.ts'
import { delay } from '../ports/clock.ts'
import type {
  AccountAddress,
  HomedActor,
  KeyAddress,
  LedgerStore,
  LookUpAnswer,
  LookUpQuestion,
} from '../ports/ledger-store.ts'
import { addressOf, keyAddressOf } from '../ports/ledger-store.ts'
import type { Log } from '../ports/log.ts'
import type { RarePaths } from '../ports/rare-paths.ts'
import type { SignatureCheck, Signer } from '../ports/signer.ts'
import { createFactsOfLookUp, type Facts } from './facts.ts'
import { type Incarnation, takeUp } from './incarnation.ts'
import { addNeeds, findingsFor, noNeeds } from './needs.ts'
import { holdOn, type LookUpMembership, type Pending, verdictKey } from './pending.ts'
import type { PinBoard } from './pin-board.ts'
import { reasonOf } from '../reason.ts'
import { elsewhereKeyOf } from './used-elsewhere.ts'

/** Look-ups in flight at once. One: what comes meanwhile goes with the next, and a larger one costs little more. */
const MAX_OPEN_ROUNDS = 1
/** Commands in one look-up. */
const MAX_ROUND_SIZE = 2_000
const RETRY_DELAY_MS = 100

export interface LookUps {
  /** Takes a command in; it comes out through `onReady` when everything is known. */
  readonly add: (pending: Pending) => void
}

export interface LookUpDependencies {
  readonly store: Pick<LedgerStore, 'lookUp'>
  readonly signer: Pick<Signer, 'verifyMany'>
  readonly clock: Clock
  readonly log: Log
  readonly pins: PinBoard
  readonly facts: Facts
  readonly rare: RarePaths
  readonly homeOf: (actor: ActorAddress) => number
  /** What the command's shard holds cannot be read. */
  readonly onUnreadable: (incarnation: Incarnation, detail: string, guilty: Pending) => void
  /** Called once a round, after its commands have been put into their `ready` queues. */
  readonly onReady: () => void
}

interface Asked {
  readonly pending: Pending
  readonly incarnation: Incarnation
  readonly membership: LookUpMembership
}

export function createLookUps(dependencies: LookUpDependencies): LookUps {
  /** By their numbers, in the order in which they came; a command that an incarnation handed on comes again, and stands once. */
  const gathering = new BriefMap<number, Pending>()
  let openRounds = 0
  let scheduled = false
  let lastDelivery: Promise<void> = Promise.resolve()

  /** K4: for whom each command, by its number, is looked up; one that is handed on counts for its new incarnation alone. */
  const under = new BriefMap<number, Incarnation>()

  function begin(pending: Pending): void {
    end(pending, under.get(pending.number))
    under.set(pending.number, pending.incarnation)
    pending.incarnation.lookingUp += 1
  }

  function end(pending: Pending, incarnation: Incarnation | undefined): void {
    if (incarnation === undefined || under.get(pending.number) !== incarnation) return
    under.delete(pending.number)
    incarnation.lookingUp -= 1
  }

  function schedule(): void {
    if (scheduled || gathering.size === 0 || openRounds >= MAX_OPEN_ROUNDS) return
    scheduled = true
    dependencies.clock.after(0, () => {
      scheduled = false
      if (gathering.size === 0 || openRounds >= MAX_OPEN_ROUNDS) return
      const maxSize = dependencies.rare.takes('look_up_of_one') ? 1 : MAX_ROUND_SIZE
      const round: Pending[] = []
      for (const pending of gathering.values()) {
        if (round.length === maxSize) break
        round.push(pending)
        gathering.delete(pending.number)
      }
      start(round)
      schedule()
    })
  }

  function start(round: readonly Pending[]): void {
    openRounds += 1
    for (const pending of round) if (!isWanted(pending)) end(pending, pending.incarnation)
    const asked = joinLookUp(round.filter(isWanted), dependencies.pins)
    const facts = createFactsOfLookUp(dependencies.facts)
    const found = find(asked, facts, dependencies)
    const before = lastDelivery
    lastDelivery = (async () => {
      const answer = await found
      await before
      openRounds -= 1
      for (const { pending, incarnation } of asked) end(pending, incarnation)
      deliver(asked, answer, facts, dependencies)
      dependencies.onReady()
      schedule()
    })()
  }

  return {
    add: (pending) => {
      const { incarnation } = pending
      if (isKnown(pending) && incarnation.lookingUp === 0) {
        holdOn(pending, takeUp(incarnation, pending.actorKey, undefined))
        incarnation.ready.push(pending)
        dependencies.clock.after(0, dependencies.onReady)
        return
      }
      begin(pending)
      gathering.delete(pending.number)
      gathering.set(pending.number, pending)
      schedule()
    },
  }
}

/** K4: a compensation names a transaction that nobody keeps, and what is signed is to be checked. */
function isKnown({ origin, actorKey, command, incarnation }: Pending): boolean {
  if (origin.kind !== 'message' || command.type === 'compensate' || 'signature' in command) return false
  return incarnation.residents.has(actorKey)
}

/** Whether the command still waits for its incarnation: it may have been given up meanwhile. */
function isWanted(pending: Pending): boolean {
  return pending.incarnation.mailbox.has(pending)
}

/**
 * Opens one look-up for all of them; it closes when the last of them is settled (P2). A command that an incarnation
 * handed on may have been in a look-up before: it leaves that one, whose findings no longer count for it.
 */
function joinLookUp(round: readonly Pending[], pins: PinBoard): readonly Asked[] {
  const lookUp = pins.open()
  let members = round.length
  if (members === 0) pins.close(lookUp)
  return round.map((pending) => {
    pending.lookUp?.leave()
    const membership: LookUpMembership = {
      leave: () => {
        members -= 1
        if (members === 0) pins.close(lookUp)
      },
    }
    pending.lookUp = membership
    return { pending, incarnation: pending.incarnation, membership }
  })
}

async function find(asked: readonly Asked[], facts: Facts, dependencies: LookUpDependencies): Promise<LookUpAnswer> {
  const { homeOf } = dependencies
  const accounts = new Map<string, AccountAddress>()
  const actors = new Map<string, HomedActor>()
  const keys: KeyAddress[] = []
  const needs = noNeeds()
  const early: Pending[] = []
  for (const { pending, incarnation } of asked) {
    const { actor, actorKey: key } = pending
    const { shardId } = incarnation.token
    pending.askedElsewhere = null
    const resident = incarnation.residents.get(key)
    if (resident !== undefined) {
      holdOn(pending, resident)
      early.push(pending)
      askElsewhere(pending, resident.state, keys)
    } else if (actor.kind === 'account') accounts.set(key, { shardId, accountId: actor.id })
    else actors.set(key, { shardId, address: actor })
    const known = pending.keyAddress === null ? undefined : incarnation.recent.keys.get(pending.keyAddress)
    if (known !== undefined) pending.earlier = known.earlier
    else if (pending.keyUse !== null) keys.push(pending.keyUse)
    addNeeds(needs, pending, facts, homeOf)
  }
  const question = {
    accounts: [...accounts.values()],
    keys,
    actors: [...actors.values()],
    transactions: [...needs.transactions.values()],
    groupUses: [...needs.groupUses.values()],
    tokens: [...needs.tokens.values()],
    existing: [...needs.existing.values()],
    classes: [...needs.classes],
    instances: [...needs.instances.values()],
  }
  const [found] = await Promise.all([
    ask(question, dependencies),
    verify(early, (pending) => keyOf(pending.resident?.state), dependencies),
  ])
  const answer = await withUsesElsewhere(found, asked, dependencies)
  dependencies.facts.note(answer)
  facts.note(answer)
  const late = asked.filter(({ pending }) => pending.resident === null).map(({ pending }) => pending)
  await verify(late, (pending) => keyOf(loaded(pending, answer)), dependencies)
  // A repeat may be signed by the key that its original was accepted under (D7): known now, it is checked now, for a
  // command that is found unverified at its step holds up its shard.
  const repeats = asked.map(({ pending }) => pending).filter(({ verdicts }) => ![...verdicts.values()].includes(true))
  await verify(repeats, (pending) => originalKey(pending, answer), dependencies)
  return answer
}

function askElsewhere(pending: Pending, state: AnyState | null | undefined, keys: KeyAddress[]): void {
  const key = elsewhereKeyOf(pending, state)
  if (key === undefined) return
  pending.askedElsewhere = keyAddressOf(key)
  keys.push(key)
}

/** An account that was not in memory says only now where it came from. */
async function withUsesElsewhere(
  answer: LookUpAnswer,
  asked: readonly Asked[],
  dependencies: LookUpDependencies,
): Promise<LookUpAnswer> {
  const keys: KeyAddress[] = []
  for (const { pending } of asked) if (pending.resident === null) askElsewhere(pending, loaded(pending, answer), keys)
  if (keys.length === 0) return answer
  const further = await ask({ ...NO_QUESTION, keys }, dependencies)
  return {
    ...answer,
    keys: new Map([...answer.keys, ...further.keys]),
    unreadable: new Map([...answer.unreadable, ...further.unreadable]),
  }
}

function keyOf(state: AnyState | null | undefined): AccountKey | null {
  return state !== null && state !== undefined && 'key' in state ? state.key : null
}

/** What was found of the command's actor. */
function loaded({ actor, actorKey: key, incarnation }: Pending, answer: LookUpAnswer): AnyState | undefined {
  if (actor.kind !== 'account') return answer.actors.get(key)
  return answer.accounts.get(addressOf({ shardId: incarnation.token.shardId, accountId: actor.id }))
}

function originalKey(pending: Pending, answer: LookUpAnswer): AccountKey | null {
  if (pending.keyAddress === null) return null
  return (pending.earlier ?? answer.keys.get(pending.keyAddress))?.key ?? null
}

const NO_QUESTION: LookUpQuestion = {
  accounts: [],
  keys: [],
  actors: [],
  transactions: [],
  groupUses: [],
  tokens: [],
  existing: [],
  classes: [],
  instances: [],
}

const NOTHING: LookUpAnswer = {
  accounts: new Map(),
  keys: new Map(),
  actors: new Map(),
  transactions: new Map(),
  groupUses: new Map(),
  tokens: new Map(),
  existing: new Set(),
  classes: new Map(),
  instances: new Set(),
  unreadable: new Map(),
}

/** Asks until it is answered: what waits here has its own deadline, and the ledger cannot be served without. */
async function ask(
  question: Parameters<LedgerStore['lookUp']>[0],
  { store, clock, log }: LookUpDependencies,
): Promise<LookUpAnswer> {
  if (Object.values(question).every((asked: readonly unknown[]) => asked.length === 0)) return NOTHING
  for (;;) {
    try {
      return await store.lookUp(question)
    } catch (error) {
      log.warn('look_up_failed', { cause: reasonOf(error) })
      await delay(clock, RETRY_DELAY_MS)
    }
  }
}

async function verify(
  pendings: readonly Pending[],
  keyOf: (pending: Pending) => AccountKey | null,
  { signer, rare }: Pick<LookUpDependencies, 'signer' | 'rare'>,
): Promise<void> {
  const checks: SignatureCheck[] = []
  const noted: { readonly pending: Pending; readonly verdict: string }[] = []
  for (const pending of pendings) {
    const { command } = pending
    const key = keyOf(pending)
    if (key === null || !('signature' in command) || command.signature === '') continue
    const verdict = verdictKey(key.keyId, command.signature)
    if (pending.verdicts.has(verdict)) continue
    checks.push({ publicKey: key.publicKey, payload: command.payload, signature: command.signature })
    noted.push({ pending, verdict })
  }
  if (checks.length === 0) return
  const verdicts = await signer.verifyMany(checks)
  if (rare.takes('verdict_forgotten')) return
  noted.forEach(({ pending, verdict }, index) => pending.verdicts.set(verdict, verdicts[index] === true))
}

function deliver(
  asked: readonly Asked[],
  answer: LookUpAnswer,
  facts: Facts,
  { onUnreadable }: Pick<LookUpDependencies, 'onUnreadable'>,
): void {
  const stopped = new Set<Incarnation>()
  for (const { pending, incarnation, membership } of asked) {
    if (pending.lookUp !== membership || pending.incarnation !== incarnation) continue
    const unreadable = answer.unreadable.get(incarnation.token.shardId)
    if (unreadable !== undefined) {
      // Once for all that waits for it: each time the store is asked whose the shard is.
      if (!stopped.has(incarnation)) onUnreadable(incarnation, unreadable, pending)
      stopped.add(incarnation)
      continue
    }
    if (pending.resident === null) holdOn(pending, takeUp(incarnation, pending.actorKey, loaded(pending, answer)))
    if (pending.keyAddress !== null) {
      pending.earlier ??=
        incarnation.recent.keys.get(pending.keyAddress)?.earlier ?? answer.keys.get(pending.keyAddress)
    }
    pending.found = findingsFor(pending, answer, facts)
    incarnation.ready.push(pending)
  }
}
