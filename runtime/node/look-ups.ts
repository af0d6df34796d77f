/**
 * What must be known before a command can be stepped: its account, what its key did before, whether it is signed.
 * One query asks for everything that has gathered; signatures are checked meanwhile on the thread pool.
 *   K1. Commands leave in the order in which they came, whatever comes back first.
 *   K2. A look-up's findings hang on the incarnation that asked; for another they are dropped.
 *   K3. A key that memory knows is not asked for: its answer goes with the command at once.
 */
import { accountOf } from '../../actors/account/commands.ts'
import type { AccountKey } from '../../actors/account/state.ts'
import type { Clock } from '../ports/clock.ts'
import { delay } from '../ports/clock.ts'
import type { KeyAddress, LedgerStore, LookUpAnswer } from '../ports/ledger-store.ts'
import { addressOf } from '../ports/ledger-store.ts'
import type { Log } from '../ports/log.ts'
import type { SignatureCheck, Signer } from '../ports/signer.ts'
import { type Incarnation, takeUp } from './incarnation.ts'
import { holdOn, type LookUpMembership, type Pending, verdictKey } from './pending.ts'
import type { PinBoard } from './pin-board.ts'

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
  /** Called once a round, after its commands have been put into their `ready` queues. */
  readonly onReady: () => void
}

interface Asked {
  readonly pending: Pending
  readonly incarnation: Incarnation
  readonly membership: LookUpMembership
}

export function createLookUps(dependencies: LookUpDependencies): LookUps {
  /** In the order in which they came; a command that an incarnation handed on comes again, and stands once. */
  const gathering = new Set<Pending>()
  let openRounds = 0
  let scheduled = false
  let lastDelivery: Promise<void> = Promise.resolve()

  function schedule(): void {
    if (scheduled || gathering.size === 0 || openRounds >= MAX_OPEN_ROUNDS) return
    scheduled = true
    dependencies.clock.after(0, () => {
      scheduled = false
      if (gathering.size === 0 || openRounds >= MAX_OPEN_ROUNDS) return
      const round: Pending[] = []
      for (const pending of gathering) {
        if (round.length === MAX_ROUND_SIZE) break
        round.push(pending)
        gathering.delete(pending)
      }
      start(round)
      schedule()
    })
  }

  function start(round: readonly Pending[]): void {
    openRounds += 1
    const asked = joinLookUp(round.filter(isWanted), dependencies.pins)
    const found = find(asked, dependencies)
    const before = lastDelivery
    lastDelivery = (async () => {
      const answer = await found
      await before
      openRounds -= 1
      deliver(asked, answer)
      dependencies.onReady()
      schedule()
    })()
  }

  return {
    add: (pending) => {
      gathering.delete(pending)
      gathering.add(pending)
      schedule()
    },
  }
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

async function find(asked: readonly Asked[], dependencies: LookUpDependencies): Promise<LookUpAnswer> {
  const accounts = new Map<string, { shardId: number; accountId: string }>()
  const keys: KeyAddress[] = []
  const early: Pending[] = []
  for (const { pending, incarnation } of asked) {
    const accountId = accountOf(pending.command)
    const { shardId } = incarnation.token
    const resident = incarnation.residents.get(accountId)
    if (resident === undefined) accounts.set(addressOf({ shardId, accountId }), { shardId, accountId })
    else {
      holdOn(pending, resident)
      early.push(pending)
    }
    const known = pending.keyAddress === null ? undefined : incarnation.recentKeys.get(pending.keyAddress)
    if (known !== undefined) pending.earlier = known.earlier
    else if (pending.keyUse !== null) keys.push(pending.keyUse)
  }
  const [answer] = await Promise.all([
    ask({ accounts: [...accounts.values()], keys }, dependencies),
    verify(early, (pending) => pending.resident?.account?.key ?? null, dependencies.signer),
  ])
  const late = asked.filter(({ pending }) => pending.resident === null).map(({ pending }) => pending)
  await verify(late, (pending) => loadedKey(pending, answer), dependencies.signer)
  // A repeat may be signed by the key that its original was accepted under (D7): known now, it is checked now, for a
  // command that is found unverified at its step holds up its shard.
  const repeats = asked.map(({ pending }) => pending).filter(({ verdicts }) => ![...verdicts.values()].includes(true))
  await verify(repeats, (pending) => originalKey(pending, answer), dependencies.signer)
  return answer
}

function originalKey(pending: Pending, answer: LookUpAnswer): AccountKey | null {
  if (pending.keyAddress === null) return null
  return (pending.earlier ?? answer.keys.get(pending.keyAddress))?.key ?? null
}

function loadedKey(pending: Pending, answer: LookUpAnswer): AccountKey | null {
  const { shardId } = pending.incarnation.token
  return answer.accounts.get(addressOf({ shardId, accountId: accountOf(pending.command) }))?.key ?? null
}

/** Asks until it is answered: what waits here has its own deadline, and the ledger cannot be served without. */
async function ask(
  question: Parameters<LedgerStore['lookUp']>[0],
  { store, clock, log }: LookUpDependencies,
): Promise<LookUpAnswer> {
  if (question.accounts.length === 0 && question.keys.length === 0) return { accounts: new Map(), keys: new Map() }
  for (;;) {
    try {
      return await store.lookUp(question)
    } catch (error) {
      log.warn('look_up_failed', { cause: error instanceof Error ? error.message : 'unknown' })
      await delay(clock, RETRY_DELAY_MS)
    }
  }
}

async function verify(
  pendings: readonly Pending[],
  keyOf: (pending: Pending) => AccountKey | null,
  signer: Pick<Signer, 'verifyMany'>,
): Promise<void> {
  const checks: SignatureCheck[] = []
  const noted: { readonly pending: Pending; readonly verdict: string }[] = []
  for (const pending of pendings) {
    const { command } = pending
    const key = keyOf(pending)
    if (key === null || !('signature' in command)) continue
    const verdict = verdictKey(key.keyId, command.signature)
    if (pending.verdicts.has(verdict)) continue
    checks.push({ publicKey: key.publicKey, payload: command.payload, signature: command.signature })
    noted.push({ pending, verdict })
  }
  if (checks.length === 0) return
  const verdicts = await signer.verifyMany(checks)
  noted.forEach(({ pending, verdict }, index) => pending.verdicts.set(verdict, verdicts[index] === true))
}

function deliver(asked: readonly Asked[], answer: LookUpAnswer): void {
  for (const { pending, incarnation, membership } of asked) {
    if (pending.lookUp !== membership || pending.incarnation !== incarnation) continue
    const accountId = accountOf(pending.command)
    const { shardId } = incarnation.token
    if (pending.resident === null) {
      holdOn(pending, takeUp(incarnation, accountId, answer.accounts.get(addressOf({ shardId, accountId }))))
    }
    if (pending.keyAddress !== null) {
      pending.earlier ??= incarnation.recentKeys.get(pending.keyAddress)?.earlier ?? answer.keys.get(pending.keyAddress)
    }
    incarnation.ready.push(pending)
  }
}
