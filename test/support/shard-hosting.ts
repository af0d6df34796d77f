/**
 * Shard hosts on one store and one network in memory: the store is true to its port (what is answered as committed is
 * there, what breaks a row's rules is refused), and a test may put its own word in for either.
 */
import { accountAddress, type ActorAddress } from '../../actors/address.ts'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import type { Answer } from '../../actors/account/outcome.ts'
import type { Rate } from '../../actors/rate.ts'
import { formatQuantity, ZERO } from '../../actors/money.ts'
import { stepActor } from '../../actors/step-actor.ts'
import { deliverySubject, type Item, type ItemVerdict, type Operation } from '../../runtime/protocol/messages.ts'
import { inboxOrder } from '../../runtime/node/shard/draft.ts'
import { outputGate } from '../../runtime/node/shard/output-gate.ts'
import { createPinBoard } from '../../runtime/node/shard/pin-board.ts'
import { createUnsupported } from '../../runtime/node/shard/unsupported.ts'
import type { MailboxLimits } from '../../runtime/node/delivery/admission.ts'
import { ShardHost, type ShardHostDependencies } from '../../runtime/node/host/shard-host.ts'
import {
  type AcknowledgedChannel,
  type CommitBatch,
  type CommitVerdict,
  type LedgerStore,
  LedgerStoreUnavailable,
  type LookUpAnswer,
  type LookUpQuestion,
  type ShardRecord,
  type ShardToken,
} from '../../runtime/ports/ledger-store.ts'
import { NOT_DELIVERED, type NotDelivered, type Transport } from '../../runtime/ports/transport.ts'
import { WIRE } from '../../runtime/protocol/wire.ts'
import { lookUpStatements } from '../simulation/store/look-up.ts'
import { poisonIn, Rows } from '../simulation/store/rows.ts'
import { openShardStatements, type Statements } from '../simulation/store/statements.ts'
import { CALLER, KEY, OTHER_KEY, readTestKey, START_MS } from './accounts.ts'
import { createManualClock } from './manual-clock.ts'
import { NO_RARE_PATHS } from '../../runtime/ports/rare-paths.ts'
import { verdictsIn, itemsBody } from './bodies.ts'

export type Commit = (batch: CommitBatch) => CommitVerdict | Promise<CommitVerdict>
/** Parts of a host that a test may replace. */
export type Watched = Partial<ShardHostDependencies>
export type Limits = Partial<MailboxLimits & { readonly maxBatchBytes: number; readonly accountRate: Rate }>
export type Fate = 'carried' | 'lost' | 'not_delivered'

export const applied: Commit = ({ shards }) => ({
  kind: 'answered',
  committed: new Set(shards.map(({ token }) => token.shardId)),
})

/** By the first letter of an actor's ID: b is at home on shard 1, c on 2, d on 3, every other on 0. */
export function homeOf({ id }: ActorAddress): number {
  return Math.max(0, 'abcd'.indexOf(id.charAt(0)))
}

export interface Logged {
  readonly event: string
  readonly fields: unknown
}

/** Hooks of a test into the store and the network. */
export interface Control {
  /** The outcome of a commit. */
  commit: Commit
  raises: boolean
  /** Reads are answered once this has resolved. */
  lookUps: Promise<void>
  acknowledges: (channels: readonly AcknowledgedChannel[]) => Promise<void>
  /** The fate of a message between nodes. */
  carry: (subject: string, message: string) => Fate
  maxMessageBytes: number
}

const NETWORK_MS = 1

/** Shards without an owner, with their records and rows. */
export function createLedger(shardIds: readonly number[]) {
  const clock = createManualClock(START_MS)
  const rows = new Rows()
  const records = new Map<number, ShardRecord>()
  const batches: CommitBatch[] = []
  const questions: LookUpQuestion[] = []
  const logged: Logged[] = []
  const refreshes = { count: 0 }
  const movers: (() => void)[] = []
  const handlers = new Map<string, (message: string, reply: (message: string) => void) => void>()
  const control: Control = {
    commit: applied,
    raises: true,
    lookUps: Promise.resolve(),
    acknowledges: (channels) => Promise.resolve(rows.channels.acknowledge(channels)),
    carry: () => 'carried',
    maxMessageBytes: 1_048_576,
  }
  /** The node's session owns the shard, in its next epoch. */
  const give = (shardId: number, session: string): ShardToken => {
    const epoch = (records.get(shardId)?.epoch ?? 0) + 1
    records.set(shardId, { shardId, epoch, attempt: 0, nodeId: session, session })
    for (const run of movers) run()
    return { shardId, epoch, attempt: 0 }
  }
  for (const shardId of shardIds) records.set(shardId, { shardId, epoch: 0, attempt: 0, nodeId: null, session: null })
  const transport: Transport = {
    maxMessageBytes: () => control.maxMessageBytes,
    serve: (subject, handler) => {
      handlers.set(subject, handler)
      return { drain: () => Promise.resolve() }
    },
    request: (subject, message, _timeoutMs, onReply) => {
      const fate = control.carry(subject, message)
      const answer = (reply: string | NotDelivered) => void clock.after(NETWORK_MS, () => onReply(reply))
      if (fate === 'not_delivered') answer(NOT_DELIVERED)
      else if (fate === 'carried') {
        clock.after(NETWORK_MS, () => {
          const handler = handlers.get(subject)
          if (handler === undefined) answer(NOT_DELIVERED)
          else handler(message, answer)
        })
      }
      return { close: () => undefined }
    },
  }
  const routes = {
    find: (shardId: number) => {
      const { session, epoch } = records.get(shardId) ?? { session: null, epoch: 0 }
      return session === null ? undefined : { session, epoch }
    },
    refresh: () => {
      refreshes.count += 1
      return Promise.resolve()
    },
    onMove: (run: () => void) => void movers.push(run),
  }
  return { clock, rows, records, batches, questions, logged, refreshes, handlers, control, give, transport, routes }
}

export type Ledger = ReturnType<typeof createLedger>

function answerOf<T>({ statements, answer }: Statements<T>): T {
  for (const run of statements) run()
  return answer()
}

/** The store as one session sees it. */
export function storeOf({ rows, records, batches, questions, control }: Ledger, session: string): LedgerStore {
  const world = { rowsOf: () => rows, allRows: () => rows, shuffled: <T>(items: readonly T[]) => items }
  const unused = () => Promise.reject(new Error('not used here'))
  const isMine = ({ shardId, epoch, attempt }: ShardToken) => {
    const record = records.get(shardId)
    return record?.session === session && record.epoch === epoch && record.attempt === attempt
  }
  return {
    shards: () => Promise.resolve([...records.values()]),
    commit: async (batch) => {
      batches.push(batch)
      const verdict = await control.commit(batch)
      if (verdict.kind !== 'answered') return verdict
      const passed = batch.shards.filter(({ token }) => verdict.committed.has(token.shardId) && isMine(token))
      const refused = poisonIn(batch.shards) ?? rows.check(passed)
      if (refused !== undefined) return { kind: 'failed', ...refused }
      rows.apply(passed)
      return { kind: 'answered', committed: new Set(passed.map(({ token }) => token.shardId)) }
    },
    lookUp: async (question): Promise<LookUpAnswer> => {
      questions.push(question)
      const answer = answerOf(lookUpStatements(world, question))
      await control.lookUps
      return answer
    },
    raiseAttempt: (token) => {
      const record = records.get(token.shardId)
      if (!control.raises || record === undefined || !isMine(token)) return Promise.resolve(false)
      records.set(token.shardId, { ...record, attempt: record.attempt + 1 })
      return Promise.resolve(true)
    },
    openShard: (shardId) => Promise.resolve(answerOf(openShardStatements(world, shardId))),
    due: (shardIds, untilMs, limit) =>
      Promise.resolve(shardIds.flatMap((shardId) => rows.actors.due(shardId, untilMs)).slice(0, limit)),
    acknowledge: (channels) => control.acknowledges(channels),
    prune: (shardIds, writtenBeforeMs, limit) => Promise.resolve(rows.channels.prune(shardIds, writtenBeforeMs, limit)),
    acquire: unused,
    release: unused,
    sessionHeld: unused,
    drains: unused,
    terminate: unused,
    probe: unused,
  }
}

/** A node that serves these shards. */
export function startHost(
  ledger: Ledger,
  session: string,
  shardIds: readonly number[],
  limits: Limits = {},
  watched: Watched = {},
) {
  const { clock, logged, transport, routes, give } = ledger
  const signing = { fails: false }
  const store = storeOf(ledger, session)
  const note = (event: string, fields?: unknown) => void logged.push({ event, fields })
  const log = { info: note, warn: note, error: note }
  const host = new ShardHost({
    session,
    store,
    transport,
    routes,
    signer: {
      verifyMany: (checks) =>
        Promise.resolve(checks.map(({ signature, publicKey }) => signature === `by ${publicKey}`)),
      signMany: (_, payloads) => Promise.resolve(payloads.map(() => 'receipt')),
      receiptKeyId: () => {
        if (signing.fails) throw new Error('the signer has no key')
        return 'receipt-key'
      },
    },
    readPublicKey: readTestKey,
    clock,
    random: { hex: (size) => '0'.repeat(size * 2), integer: () => 0 },
    log,
    wire: WIRE,
    unsupported: createUnsupported(log),
    pins: createPinBoard(clock),
    gate: outputGate,
    rare: NO_RARE_PATHS,
    step: stepActor,
    inboxOrder,
    homeOf,
    settings: {
      ledgerId: 'ledger',
      production: false,
      maxBatchSize: 100,
      maxBatchBytes: 1_000_000,
      maxResidents: 100,
      maxResidentBytes: 10_000_000,
      maxActorMailbox: 10_000,
      maxShardMailbox: 100,
      maxNodeMailbox: 10_000,
      maxOutbox: 1_000,
      ...limits,
    },
    ...watched,
  })
  transport.serve(deliverySubject(session), (message, reply) => host.receiveDeliveries(message, reply))
  /** Takes the shard from any owner. */
  const serve = async (shardId: number) => {
    const token = give(shardId, session)
    host.serve(token, await store.openShard(shardId))
  }
  for (const shardId of shardIds) {
    host.serve(give(shardId, session), { lastTransactionId: null, channels: [], marks: [], outbox: [] })
  }
  return { host, store, signing, serve }
}

let serial = 0

/** One node that serves everything, and the commands to try it with. */
export function hosting(shardIds: readonly number[] = [0, 1], limits: Limits = {}, watched: Watched = {}) {
  const ledger = createLedger(shardIds)
  const started = startHost(ledger, 's', shardIds, limits, watched)
  const { rows, batches } = ledger
  /** The effect of a commit whose outcome is unknown. */
  const keep = ({ shards }: CommitBatch): void => {
    const refused = rows.check(shards)
    if (refused !== undefined) throw new Error(refused.detail)
    rows.apply(shards)
  }
  /** The outcome of the next commit stays unknown. */
  const loseReply = (isApplied = true): void => {
    ledger.control.commit = (batch) => {
      if (isApplied) keep(batch)
      ledger.control.commit = applied
      return { kind: 'unknown', detail: 'no answer' }
    }
  }
  serial = 0
  const verdicts: ItemVerdict[] = []
  const send = (...items: Item[]) => sendTo(started.host, verdicts, ...items)
  return { ...ledger, ...started, batches, verdicts, item, send, keep, loseReply }
}

/** `id`: of an account, or an actor. */
export function item(
  shardId: number,
  actor: string | ActorAddress,
  operation: Operation,
  changes: Partial<Item> = {},
): Item {
  serial += 1
  return {
    requestId: `request-${serial}`,
    attempt: 1,
    shardId,
    epoch: 1,
    actor: typeof actor === 'string' ? { kind: 'account', id: actor } : actor,
    caller: CALLER,
    deadlineMs: START_MS + 60_000,
    operation,
    ...changes,
  }
}

export function sendTo(host: ShardHost, verdicts: ItemVerdict[], ...items: readonly Item[]): void {
  host.receive(itemsBody(items), (reply) => verdicts.push(...verdictsIn(reply)))
}

export function failing(detail = 'the store cannot be reached'): Promise<never> {
  return Promise.reject(new LedgerStoreUnavailable(detail))
}

/** As the courier of another shard brings it: value for the account, of a transfer of its own. */
export function arriving(number: number, accountId: string, groupId: string | null = null) {
  const message = {
    type: 'receive_transfer',
    txnId: `txn_${number}`,
    fromAccountId: 'd',
    tokenId: 'BASE',
    amount: '1',
    groupId,
    metadata: null,
    expiresAtMs: null,
    compensates: null,
  } as const
  return { number, envelope: { version: 1, to: accountAddress(accountId), message, carries: [] } }
}

export const register: Operation = { kind: 'register', key: KEY, registrationKey: null }
export const submit = (fields: JsonObject, signature = `by ${KEY.publicKey}`): Operation => ({
  kind: 'submit',
  payload: canonicalJson(fields),
  signature,
})
export const credit = (accountId: string, key: string, signature?: string, amount = '1'): Operation =>
  submit({ account_id: accountId, amount, type: 'credit', idempotency_key: key }, signature)
export const transfer = (accountId: string, toAccountId: string, key: string, amount = '1'): Operation =>
  submit({ account_id: accountId, to_account_id: toAccountId, amount, type: 'transfer', idempotency_key: key })
export const rotation = (accountId: string): Operation => ({
  kind: 'rotate_key',
  payload: canonicalJson({ account_id: accountId, idempotency_key: 'rotation', public_key: OTHER_KEY.publicKey }),
  signature: `by ${KEY.publicKey}`,
  proof: null,
})
export const registerToken = (symbol: string, issuer: string, registrationKey: string | null = null): Operation => ({
  kind: 'register_token',
  payload: canonicalJson({ symbol, decimals: 2, issuer, total_supply: '100' }),
  signature: null,
  registrationKey,
})
export const answersOf = (verdicts: readonly ItemVerdict[]): readonly (Answer | string)[] =>
  verdicts.map(({ verdict }) => (verdict.kind === 'answered' ? verdict.answer : verdict.kind))
export const kinds = (verdicts: readonly ItemVerdict[]) =>
  answersOf(verdicts).map((answer) =>
    typeof answer === 'string' ? answer : answer.kind === 'refused' ? answer.code : answer.kind,
  )
export const receiptOf = (answer: Answer | string | undefined) =>
  typeof answer === 'object' && answer.kind === 'accepted' ? answer.receipt : undefined
/** How many transactions stand under this key in what was committed. */
export const writes = (batches: readonly CommitBatch[], key: string) =>
  batches
    .flatMap(({ shards }) => shards.flatMap(({ transactions }) => transactions))
    .filter((row) => row.transaction.idempotencyKey === key).length
/** The numbers of the messages that reached an actor in what was committed, as marks of their source. */
export const marksIn = (batches: readonly CommitBatch[], target: number, source: number) =>
  batches
    .flatMap(({ shards }) => shards.filter(({ token }) => token.shardId === target))
    .flatMap(({ marks }) => marks.filter((mark) => mark.source === source).map(({ mark }) => mark))
/** The holdings of an account. */
export const balanceIn = (rows: Rows, accountId: string, tokenId = 'BASE'): string => {
  const shardId = homeOf({ kind: 'account', id: accountId })
  return formatQuantity(rows.account({ shardId, accountId })?.balances.get(tokenId)?.balance ?? ZERO)
}
export const actorIn = (rows: Rows, address: ActorAddress) => rows.actors.state({ shardId: homeOf(address), address })
