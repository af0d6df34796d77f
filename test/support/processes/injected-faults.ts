/**
 * Faults of a shard node between the arrival of a command and its reply. Each fault is in one dependency of the node and
 * concerns one account: an order of the account, a transfer to it, or a group that names it.
 */
import type { StepActor, StepOutcome } from '../../../actors/step-actor.ts'
import { stepActor } from '../../../actors/step-actor.ts'
import { BrokenInvariant } from '../../../actors/result.ts'
import type { LedgerNodeDependencies } from '../../../runtime/node/ledger-node.ts'
import { type CommitBatch, LedgerStoreUnavailable, type LookUpQuestion } from '../../../runtime/ports/ledger-store.ts'
import { WIRE } from '../../../runtime/protocol/wire.ts'

/**
 * The result for the client. `applied`: as without the fault. `refused`: without effect. `undecided`: 503, outcome unknown.
 * `pending`: the order is accepted, and its consequences wait.
 */
export type FaultOutcome = 'applied' | 'refused' | 'undecided' | 'pending'

/** `account`: prefix of the account's ID. `shouldFail`: called where the fault can occur; returns whether it occurs. */
export type Inject = (
  dependencies: LedgerNodeDependencies,
  account: string,
  shouldFail: () => boolean,
) => Partial<LedgerNodeDependencies>

export interface InjectedFault {
  readonly name: string
  readonly by: 'order' | 'transfer' | 'group'
  readonly outcome: FaultOutcome
  /** The event that the fault logs at the level `error`. A fault that only delays logs `warned` instead. */
  readonly logged: readonly string[]
  readonly warned?: string
  /** An edge that waits long asks again; each of its attempts that waits for the answer logs the event. */
  readonly loggedByAttempt?: true
  readonly inject: Inject
}

const bug = (): TypeError => new TypeError('an injected fault')
const broken = (): BrokenInvariant => new BrokenInvariant('an injected fault')
const unavailable = (): LedgerStoreUnavailable => new LedgerStoreUnavailable('an injected fault')
const rejected = (): Promise<never> => Promise.reject(bug())

/** Replaces the step of an order of the account, or of a transfer to it. */
function stepping(
  matches: (command: Parameters<StepActor>[2]) => boolean,
  replacement: (outcome: () => StepOutcome) => StepOutcome,
): Inject {
  return ({ step = stepActor }, account, shouldFail) => ({
    step: (actor, state, command, evidence) => {
      const outcome = () => step(actor, state, command, evidence)
      const concernsAccount = actor.kind === 'account' && actor.id.startsWith(account) && matches(command)
      return concernsAccount && shouldFail() ? replacement(outcome) : outcome()
    },
  })
}

const isOrder = ({ type }: Parameters<StepActor>[2]): boolean => type === 'submit'
const isArrival = ({ type }: Parameters<StepActor>[2]): boolean => type === 'receive_transfer'

function throwing(error: () => Error): () => never {
  return () => {
    throw error()
  }
}

function withoutEnvelope(outcome: () => StepOutcome): StepOutcome {
  const stepped = outcome()
  if (stepped.kind !== 'stepped') return stepped
  return { ...stepped, effects: [...stepped.effects, { kind: 'message_sent', envelope: undefined as never }] }
}

function withoutBalances(outcome: () => StepOutcome): StepOutcome {
  const stepped = outcome()
  if (stepped.kind !== 'stepped' || stepped.state === null) return stepped
  return { ...stepped, state: { ...stepped.state, balances: undefined as never } as never }
}

function lookingUp(matches: (question: LookUpQuestion, account: string) => boolean, error: () => Error) {
  return (({ store }, account, shouldFail) => ({
    store: {
      ...store,
      lookUp: (question) =>
        matches(question, account) && shouldFail() ? Promise.reject(error()) : store.lookUp(question),
    },
  })) satisfies Inject
}

const asksForOrder = ({ keys }: LookUpQuestion, account: string): boolean =>
  keys.some(({ accountId, operation }) => accountId.startsWith(account) && operation === 'transaction')

/** Spares the first look-up of an account: its registration needs it. */
function lookingUpLater(error: () => Error): Inject {
  return ({ store }, account, shouldFail) => {
    const known = new Set<string>()
    return {
      store: {
        ...store,
        lookUp: (question) => {
          const ids = question.accounts.map(({ accountId }) => accountId).filter((id) => id.startsWith(account))
          if (ids.some((id) => known.has(id)) && shouldFail()) return Promise.reject(error())
          for (const id of ids) known.add(id)
          return store.lookUp(question)
        },
      },
    }
  }
}

/** Replaces commits with a transaction of the account. `times`: how many; without it, all. */
function committing(
  origin: 'client' | 'ledger',
  replacement: LedgerNodeDependencies['store']['commit'],
  times = Number.POSITIVE_INFINITY,
): Inject {
  return ({ store }, account, shouldFail) => {
    let left = times
    return {
      store: {
        ...store,
        commit: (batch) => {
          if (left === 0 || !writesFor(batch, account, origin) || !shouldFail()) return store.commit(batch)
          left -= 1
          return replacement(batch)
        },
      },
    }
  }
}

function writesFor(batch: CommitBatch, account: string, origin: 'client' | 'ledger'): boolean {
  return shardOfWrites(batch, account, origin) !== undefined
}

function shardOfWrites({ shards }: CommitBatch, account: string, origin: 'client' | 'ledger'): number | undefined {
  const found = shards.find(({ transactions }) =>
    transactions.some(({ transaction }) => transaction.accountId.startsWith(account) && transaction.origin === origin),
  )
  return found?.token.shardId
}

function failed(cause: 'data' | 'transient' | 'invariant'): LedgerNodeDependencies['store']['commit'] {
  return () => Promise.resolve({ kind: 'failed', cause, detail: 'an injected fault' })
}

const verifying: Inject = ({ signer }, account, shouldFail) => {
  return {
    signer: {
      ...signer,
      verifyMany: (checks) =>
        checks.some(({ payload }) => payload.includes(`"account_id":"${account}`)) && shouldFail()
          ? Promise.reject(bug())
          : signer.verifyMany(checks),
    },
  }
}

function signing(replacement: () => Promise<readonly string[]>): Inject {
  return ({ signer }, account, shouldFail) => ({
    signer: {
      ...signer,
      signMany: (keyId, payloads) =>
        payloads.some((payload) => payload.includes(account)) && shouldFail()
          ? replacement()
          : signer.signMany(keyId, payloads),
    },
  })
}

/** After a commit without a reply, the node of the fault cannot read the shard; other nodes can. */
const unrecoverable: Inject = ({ store }, account, shouldFail) => {
  const unreadable = new Set<number>()
  return {
    store: {
      ...store,
      commit: (batch) => {
        const shardId = shardOfWrites(batch, account, 'client')
        if (shardId === undefined || !shouldFail()) return store.commit(batch)
        unreadable.add(shardId)
        return Promise.reject(bug())
      },
      openShard: (shardId) => (unreadable.has(shardId) ? Promise.reject(bug()) : store.openShard(shardId)),
    },
  }
}

/** The first reply to an order of the account cannot be serialized. */
function unwritable(): Inject {
  let left = 1
  return stepping(isOrder, (outcome) => {
    const stepped = outcome()
    if (stepped.kind !== 'stepped' || stepped.answer === null || left === 0) return stepped
    left -= 1
    return { ...stepped, answer: Object.assign({}, stepped.answer, { unwritable: 1n }) }
  })
}

/** The first reply to an order of the account is not sent. */
const replying: Inject = ({ transport }, account, shouldFail) => {
  let left = 1
  return {
    transport: {
      ...transport,
      serve: (subject, handler) =>
        transport.serve(subject, (message, reply) =>
          handler(message, (text) => {
            if (left > 0 && text.includes(account) && text.includes('"accepted"') && shouldFail()) {
              left -= 1
              throw bug()
            }
            reply(text)
          }),
        ),
    },
  }
}

const carrying: Inject = ({ transport }, account, shouldFail) => {
  return {
    transport: {
      ...transport,
      request: (subject, message, timeoutMs, onReply) => {
        if (message.includes(account) && message.includes('"receive_transfer"') && shouldFail()) throw bug()
        return transport.request(subject, message, timeoutMs, onReply)
      },
    },
  }
}

function reading(replacement: () => undefined): Inject {
  return ({ wire = WIRE }, account, shouldFail) => ({
    wire: {
      ...wire,
      readEnvelope: (written) =>
        written.to.id.startsWith(account) && written.message.type === 'receive_transfer' && shouldFail()
          ? replacement()
          : wire.readEnvelope(written),
    },
  })
}

function dueThrowing(error: () => Error): Inject {
  return ({ step = stepActor }, account, shouldFail) => ({
    step: (actor, state, command, evidence) => {
      if (command.type === 'due' && JSON.stringify(state)?.includes(account) && shouldFail()) throw error()
      return step(actor, state, command, evidence)
    },
  })
}

const ORDER_FAULTS: readonly Omit<InjectedFault, 'by'>[] = [
  {
    name: 'order-judged',
    outcome: 'undecided',
    logged: ['item_failed'],
    inject: ({ homeOf }, account, shouldFail) => ({
      homeOf: (actor) => {
        if (actor.id.startsWith(account) && shouldFail()) throw bug()
        return homeOf(actor)
      },
    }),
  },
  {
    name: 'order-looked-up',
    outcome: 'undecided',
    logged: ['command_left_undecided'],
    inject: lookingUp(asksForOrder, bug),
  },
  {
    name: 'order-row-unread',
    outcome: 'undecided',
    logged: [],
    warned: 'look_up_failed',
    inject: lookingUp(asksForOrder, unavailable),
  },
  { name: 'order-verified', outcome: 'undecided', logged: ['command_left_undecided'], inject: verifying },
  { name: 'order-step', outcome: 'refused', logged: ['command_refused'], inject: stepping(isOrder, throwing(bug)) },
  {
    name: 'order-invariant',
    outcome: 'refused',
    logged: ['shard_quarantined'],
    inject: stepping(isOrder, throwing(broken)),
  },
  { name: 'order-effect', outcome: 'refused', logged: ['command_refused'], inject: stepping(isOrder, withoutEnvelope) },
  { name: 'order-rows', outcome: 'refused', logged: ['command_refused'], inject: stepping(isOrder, withoutBalances) },
  {
    name: 'order-signing',
    outcome: 'undecided',
    logged: ['command_postponed'],
    inject: signing(() => Promise.reject(bug())),
  },
  {
    name: 'order-unsigned',
    outcome: 'refused',
    logged: ['shard_quarantined'],
    inject: signing(() => Promise.resolve([])),
  },
  {
    name: 'order-commit-lost',
    outcome: 'applied',
    logged: [],
    warned: 'commit_unknown',
    inject: committing('client', rejected, 1),
  },
  {
    name: 'order-row-refused',
    outcome: 'refused',
    logged: ['command_refused'],
    inject: committing('client', failed('data')),
  },
  {
    name: 'order-commit-failed',
    outcome: 'applied',
    logged: [],
    warned: 'commit_failed',
    inject: committing('client', failed('transient'), 1),
  },
  { name: 'order-unrecoverable', outcome: 'undecided', logged: ['shard_quarantined'], inject: unrecoverable },
  {
    name: 'order-unwritable',
    outcome: 'applied',
    logged: ['verdict_not_written'],
    loggedByAttempt: true,
    inject: unwritable(),
  },
  { name: 'order-reply', outcome: 'applied', logged: ['verdicts_not_sent'], inject: replying },
]

const TRANSFER_FAULTS: readonly Omit<InjectedFault, 'by'>[] = [
  { name: 'message-read', outcome: 'pending', logged: ['channel_parked'], inject: reading(throwing(bug)) },
  { name: 'message-unknown', outcome: 'pending', logged: ['channel_parked'], inject: reading(() => undefined) },
  {
    name: 'message-looked-up',
    outcome: 'pending',
    logged: ['channel_parked'],
    inject: lookingUpLater(bug),
  },
  {
    name: 'message-row-unread',
    outcome: 'pending',
    logged: ['channel_parked'],
    inject: lookingUpLater(unavailable),
  },
  { name: 'message-step', outcome: 'pending', logged: ['channel_parked'], inject: stepping(isArrival, throwing(bug)) },
  {
    name: 'message-invariant',
    outcome: 'pending',
    logged: ['channel_parked'],
    inject: stepping(isArrival, throwing(broken)),
  },
  {
    name: 'message-effect',
    outcome: 'pending',
    logged: ['channel_parked'],
    inject: stepping(isArrival, withoutEnvelope),
  },
  {
    name: 'message-rows',
    outcome: 'pending',
    logged: ['channel_parked'],
    inject: stepping(isArrival, withoutBalances),
  },
  {
    name: 'message-row-refused',
    outcome: 'pending',
    logged: ['channel_parked'],
    inject: committing('ledger', failed('data')),
  },
  { name: 'message-carried', outcome: 'pending', logged: ['message_not_sent'], inject: carrying },
]

const GROUP_FAULTS: readonly Omit<InjectedFault, 'by'>[] = [
  { name: 'timer-step', outcome: 'pending', logged: ['timer_parked'], inject: dueThrowing(bug) },
  { name: 'timer-invariant', outcome: 'pending', logged: ['timer_parked'], inject: dueThrowing(broken) },
]

export const INJECTED_FAULTS: readonly InjectedFault[] = [
  ...ORDER_FAULTS.map((fault) => ({ ...fault, by: 'order' as const })),
  ...TRANSFER_FAULTS.map((fault) => ({ ...fault, by: 'transfer' as const })),
  ...GROUP_FAULTS.map((fault) => ({ ...fault, by: 'group' as const })),
]

/** The prefix of the ID of the account that a fault concerns. */
export function accountPrefixOf({ name }: Pick<InjectedFault, 'name'>): string {
  return `${name}@faults`
}

/** Adds all of the faults, each for its own account. */
export function withFaults(
  dependencies: LedgerNodeDependencies,
  shouldFail: (fault: InjectedFault) => boolean,
): LedgerNodeDependencies {
  return INJECTED_FAULTS.reduce<LedgerNodeDependencies>(
    (before, fault) => ({ ...before, ...fault.inject(before, accountPrefixOf(fault), () => shouldFail(fault)) }),
    dependencies,
  )
}
