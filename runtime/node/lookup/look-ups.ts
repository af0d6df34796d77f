/**
 * Look-ups before a command is stepped: its account, the earlier use of its idempotency key, its signature. One query
 * serves a round, with each key once; the thread pool verifies signatures meanwhile.
 *   K2. Findings count only for the incarnation that asked.
 *   K3. An idempotency key in memory is not queried.
 *   K4. A message whose actor is in memory waits for no look-up, unless its shard has an earlier one in flight (K1).
 * K1 and K5 to K7 are in look-up-rounds.ts, for the order of commands and for failed rounds.
 */
import type { AccountKey } from '../../../actors/account/state.ts'
import type { AnyState } from '../../../actors/step-actor.ts'
import { addressOf, keyAddressOf, type LookUpAnswer } from '../../ports/ledger-store.ts'
import type { SignatureCheck } from '../../ports/signer.ts'
import { type Contain, type Fault, faultOf } from '../recovery/containment.ts'
import { createFactsOfLookUp, type Facts } from '../shard/facts.ts'
import { type Incarnation, takeUp } from '../shard/incarnation.ts'
import { LookUpRounds } from './look-up-rounds.ts'
import { addNeeds, elsewhereKeyOf, findingsFor, type Needs, noNeeds, questionOf } from './needs.ts'
import { holdOn, type Pending, verdictKey } from '../shard/pending-command.ts'
import type { NodeContext } from '../shard/node-context.ts'
import type { PinBoard } from '../shard/pin-board.ts'

/** Takes a command; it is ready, and `onReady` called, when its look-up is done. */
export type LookUps = (pending: Pending) => void

export interface LookUpDependencies extends NodeContext {
  readonly facts: Facts
  /** A row of the command's shard cannot be read. */
  readonly onUnreadable: (incarnation: Incarnation, fault: Fault, pending: Pending) => void
  readonly contain: Contain
  /** Called once a round, after its commands are in their `ready` queues. */
  readonly onReady: () => void
}

interface LookUpMember {
  readonly pending: Pending
  readonly incarnation: Incarnation
  readonly leave: () => void
}

export function createLookUps(dependencies: LookUpDependencies): LookUps {
  const { clock, store, onReady } = dependencies
  const [yes, no] = [(): boolean => true, (): boolean => false]
  const rounds = new LookUpRounds({
    ...dependencies,
    isAnswering: () => store.shards().then(yes, no),
    lookUp: (round) => lookUp(round, dependencies),
  })
  return (pending) => {
    const { incarnation } = pending
    if (!isKnown(pending) || incarnation.lookingUp > 0) return rounds.add(pending)
    holdOn(pending, takeUp(incarnation, pending.actorKey, undefined))
    incarnation.ready.push(pending)
    clock.after(0, onReady)
  }
}

async function lookUp(round: readonly Pending[], dependencies: LookUpDependencies): Promise<() => void> {
  const asked = joinLookUp(round, dependencies.pins)
  const facts = createFactsOfLookUp(dependencies.facts)
  try {
    const answer = await find(asked, facts, dependencies)
    return () => deliver(asked, answer, facts, dependencies)
  } catch (error) {
    // A failed look-up's findings do not count: nothing is pinned for them.
    for (const { pending, leave } of asked) {
      if (pending.leaveLookUp !== leave) continue
      leave()
      pending.leaveLookUp = null
      pending.earlier = undefined
    }
    throw error
  }
}

/** K4: a compensation or refund needs a transaction, and a signed message needs its signature verified. */
function isKnown({ origin, actorKey, command, incarnation }: Pending): boolean {
  if (origin.kind !== 'message' || command.type === 'compensate') return false
  if ('signature' in command || 'refunds' in command) return false
  return incarnation.residents.has(actorKey)
}

/**
 * Opens one look-up for all commands; it closes when the last of them is settled (P2). A command of a replaced
 * incarnation leaves its former look-up, whose findings no longer count.
 */
function joinLookUp(round: readonly Pending[], pins: PinBoard): readonly LookUpMember[] {
  const lookUp = pins.open()
  let members = round.length
  return round.map((pending) => {
    pending.leaveLookUp?.()
    const leave = (): void => {
      members -= 1
      if (members === 0) pins.close(lookUp)
    }
    pending.leaveLookUp = leave
    return { pending, incarnation: pending.incarnation, leave }
  })
}

async function find(
  asked: readonly LookUpMember[],
  facts: Facts,
  dependencies: LookUpDependencies,
): Promise<LookUpAnswer> {
  const { homeOf } = dependencies
  const needs = noNeeds()
  const early: Pending[] = []
  for (const { pending, incarnation } of asked) {
    const { actor, actorKey: key } = pending
    const { shardId } = incarnation.token
    pending.askedElsewhere = null
    const resident = incarnation.residents.get(key)
    if (resident !== undefined) {
      holdOn(pending, resident)
      pending.wasResident = true
      early.push(pending)
      askElsewhere(pending, resident.state, needs)
    } else if (actor.kind === 'account') needs.accounts.set(key, { shardId, accountId: actor.id })
    else needs.actors.set(key, { shardId, address: actor })
    const { keyAddress, keyUse } = pending
    const known = keyAddress === null ? undefined : incarnation.recent.keys.get(keyAddress)
    if (known !== undefined) pending.earlier = known.earlier
    else if (keyAddress !== null && keyUse !== null) needs.keys.set(keyAddress, keyUse)
    addNeeds(needs, pending, facts, homeOf)
  }
  const [found] = await Promise.all([
    ask(needs, dependencies),
    verify(early, (pending) => keyOf(pending.resident?.state), dependencies),
  ])
  const answer = await withUsesElsewhere(found, asked, dependencies)
  dependencies.facts.note(answer)
  facts.note(answer)
  const late = asked.filter(({ pending }) => pending.resident === null).map(({ pending }) => pending)
  await verify(late, (pending) => keyOf(loaded(pending, answer)), dependencies)
  // A repeat may be signed by the key that accepted its original (D7). It is verified now, since a command that is
  // still unverified at its step holds up its shard.
  const repeats = asked.map(({ pending }) => pending).filter(({ verdicts }) => ![...verdicts.values()].includes(true))
  await verify(repeats, (pending) => originalKey(pending, answer), dependencies)
  return answer
}

function askElsewhere(pending: Pending, state: AnyState | null | undefined, { keys }: Needs): void {
  const key = elsewhereKeyOf(pending, state)
  if (key === undefined) return
  pending.askedElsewhere = keyAddressOf(key)
  keys.set(pending.askedElsewhere, key)
}

/** An account that was not in memory shows its source ledger only now. */
async function withUsesElsewhere(
  answer: LookUpAnswer,
  asked: readonly LookUpMember[],
  dependencies: LookUpDependencies,
): Promise<LookUpAnswer> {
  const needs = noNeeds()
  for (const { pending, leave } of asked) {
    // A command of a replaced incarnation is looked up again and must not get these findings.
    if (pending.leaveLookUp !== leave || pending.resident !== null) continue
    askElsewhere(pending, loaded(pending, answer), needs)
  }
  if (needs.keys.size === 0) return answer
  const further = await ask(needs, dependencies)
  return {
    ...answer,
    keys: new Map([...answer.keys, ...further.keys]),
    unreadable: new Map([...answer.unreadable, ...further.unreadable]),
  }
}

function keyOf(state: AnyState | null | undefined): AccountKey | null {
  return state?.kind === 'account' ? state.key : null
}

/** The found state of the command's actor. */
function loaded({ actor, actorKey: key, incarnation }: Pending, answer: LookUpAnswer): AnyState | undefined {
  if (actor.kind !== 'account') return answer.actors.get(key)
  return answer.accounts.get(addressOf({ shardId: incarnation.token.shardId, accountId: actor.id }))
}

function originalKey(pending: Pending, answer: LookUpAnswer): AccountKey | null {
  if (pending.keyAddress === null) return null
  return (pending.earlier ?? answer.keys.get(pending.keyAddress))?.key ?? null
}

const NOTHING: LookUpAnswer = {
  accounts: new Map(),
  keys: new Map(),
  actors: new Map(),
  transactions: new Map(),
  credits: new Map(),
  groupUses: new Map(),
  tokens: new Map(),
  existing: new Set(),
  classes: new Map(),
  instances: new Set(),
  unreadable: new Map(),
}

function ask(needs: Needs, { store }: LookUpDependencies): LookUpAnswer | Promise<LookUpAnswer> {
  const isEmpty = Object.values(needs).every(({ size }) => size === 0)
  return isEmpty ? NOTHING : store.lookUp(questionOf(needs))
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
  asked: readonly LookUpMember[],
  answer: LookUpAnswer,
  facts: Facts,
  { onUnreadable, contain }: Pick<LookUpDependencies, 'onUnreadable' | 'contain'>,
): void {
  for (const { pending, incarnation, leave } of asked) {
    if (pending.leaveLookUp !== leave || pending.incarnation !== incarnation) continue
    const unreadable = answer.unreadable.get(incarnation.token.shardId)
    if (unreadable !== undefined) {
      onUnreadable(incarnation, { stage: 'look_up', cause: unreadable, breaksInvariant: true }, pending)
      continue
    }
    try {
      takeUpFindings(pending, answer, facts)
    } catch (error) {
      if (!contain(pending, faultOf('look_up', error))) continue
    }
    incarnation.ready.push(pending)
  }
}

function takeUpFindings(pending: Pending, answer: LookUpAnswer, facts: Facts): void {
  const { incarnation, actorKey: key, keyAddress } = pending
  if (pending.resident === null) holdOn(pending, takeUp(incarnation, key, loaded(pending, answer)))
  if (keyAddress !== null) {
    pending.earlier ??= incarnation.recent.keys.get(keyAddress)?.earlier ?? answer.keys.get(keyAddress)
  }
  pending.found = findingsFor(pending, answer, facts)
}
