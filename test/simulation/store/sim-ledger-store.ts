/**
 * The simulated ledger store: the port as one session of one process sees it. Every call is three events: it arrives at
 * the server, it takes effect there, and its answer arrives. Chance decides on delays and losses. Contract:
 * test/contract/ledger-store/ledger-store-sim.contract.test.ts
 */
import {
  type CommitBatch,
  type CommitVerdict,
  type LedgerStore,
  LedgerStoreUnavailable,
  type ShardToken,
} from '../../../runtime/ports/ledger-store.ts'
import type { SimProcess } from '../kernel/kernel-process.ts'
import type { Connection } from './connections.ts'
import type { SimDatabase } from './database.ts'
import type { ShardRow } from './rows.ts'
import { createSimEvidence, type SimEvidence } from './evidence.ts'
import type { SimServer } from './servers.ts'
import type { Statements } from './statements.ts'
import type { SeededRandom } from '../kernel/sim-random.ts'

/** A commit without an answer for this long has an unknown outcome. */
export const COMMIT_TIMEOUT_MS = 5_000
/** Any other call without an answer for this long has failed. */
const CALL_TIMEOUT_MS = 2_000
const USUAL_TRIP_MS = 1
const USUAL_EXECUTION_MS = 2
const SLOW_EXECUTION_MS = 300
const STUCK_EXECUTION_MS = { from: 2_000, to: 12_000 }
const LATE_ARRIVAL_MS = { from: 100, to: 8_000 }
/** The longest delay between a commit's effect and the arrival of its second copy. */
const COPY_AFTER_MS = 3_000
/** Delay until the server notices the closed connections of a killed process. */
const NOTICED_END_MS = { from: 5, to: 20 }

export interface SimLedgerStoreOptions {
  readonly database: SimDatabase
  readonly process: SimProcess
  readonly session: string
  readonly nodeId: string
  /** False: the user checks the server itself, as edges do. */
  readonly looksAtServer?: boolean
  /** Called once no call of this store will succeed again. */
  readonly onStopped?: (reason: string, cause: StopCause) => void
}

/** The database is on another server, or lacks answered commits. */
export type StopCause = 'server' | 'went_back'

/** One call to the server: its effect there, and its answer. */
interface ServerCall<T> {
  readonly label: string
  /** Runs at the server when the call arrives; `answer` may be called once, later. */
  readonly serve: (connection: Connection, answer: (value: T) => void, fail: (detail: string) => void) => void
  /** Delay of the answer; random by default. */
  readonly answersAfterMs?: number
}

/** The port, and controls for tests. */
export interface SimLedgerStore extends LedgerStore {
  /** Why the server must not be used, for users that check it themselves; undefined if it may. */
  readonly refusal: () => Promise<string | undefined>
  /** Fixes the fate of the next commit. */
  readonly nextCommit: (fate: CommitFate) => void
  /** Closes the connections, commits in flight included, without the server noticing. */
  readonly cutOff: () => void
}

export function createSimLedgerStore(options: SimLedgerStoreOptions): SimLedgerStore {
  const { database, process, session, nodeId, looksAtServer = true, onStopped = () => undefined } = options
  const random = database.random.fork(`session ${session}`)
  const connection = database.connections.connect(session, nodeId)
  const link: Link = {
    database,
    process,
    random,
    session,
    nodeId,
    onStopped,
    looksAtServer,
    firstServer: undefined,
    evidence: createSimEvidence(),
    stopped: undefined,
    connection,
    nextFate: undefined,
    cuts: new Set(),
  }
  process.onEnd(() => closeAfterEnd(link))
  lookAtServer(link)

  const simple = <T>(label: string, read: () => T): Promise<T> =>
    call(link, {
      label,
      serve: (connection, answer) => {
        database.kernel.schedule(executionOf(link), `database ${label}`, () => {
          if (database.connections.reaches(connection)) answer(read())
        })
      },
    })
  const change = (token: ShardToken, label: string, next: (row: ShardRow) => ShardRow): Promise<boolean> =>
    call(link, {
      label,
      serve: (connection, answer, fail) => {
        database.shards.change(connection, token, executionOf(link), next, orLocked(answer, fail))
      },
    })

  return {
    shards: () => simple('shards', () => database.shards.records()),
    drains: () => simple('drains', () => database.drains),
    refusal: () => simple('server', () => database.refusalOf(undefined)),
    openShard: (shardId) => statements(link, 'open shard', database.openShard(session, shardId), executionOf(link)),
    due: (shardIds, untilMs, limit) => simple('due', () => database.due(session, shardIds, untilMs, limit)),
    acknowledge: (channels) => simple('acknowledge', () => database.acknowledge(channels)),
    prune: (shardIds, writtenBeforeMs, limit) =>
      simple('prune', () => database.prune(shardIds, writtenBeforeMs, limit)),
    sessionHeld: (other) => simple('session held', () => database.connections.sessionHeld(other)),
    terminate: (other) =>
      simple('terminate', () => {
        if (other !== session) database.connections.endSession(other, 'all')
      }),
    probe: () => simple('probe', () => ({ nowMs: database.kernel.wallMs() })),
    acquire: (shardId, seenEpoch, nextEpoch) => {
      if (nextEpoch <= seenEpoch) throw new Error(`epoch ${nextEpoch} is not above ${seenEpoch}`)
      return call(link, {
        label: `acquire ${shardId}`,
        serve: (connection, answer) => {
          database.acquire(connection, { shardId, seenEpoch, nextEpoch }, executionOf(link), answer)
        },
      })
    },
    release: (token) =>
      change(token, `release ${token.shardId}`, (row) => ({
        epoch: row.epoch + 1,
        attempt: 0,
        nodeId: null,
        session: null,
      })),
    raiseAttempt: (token) =>
      call(link, {
        label: `raise attempt ${token.shardId}`,
        serve: (connection, answer, fail) => {
          // A commit with an unknown outcome may hold the row: its backend is ended first.
          database.connections.endSession(session, 'left')
          const raise = (row: ShardRow): ShardRow => ({ ...row, attempt: row.attempt + 1 })
          database.shards.change(connection, token, executionOf(link), raise, orLocked(answer, fail))
        },
      }),
    lookUp: (question) => {
      if (random.chance(database.faults.lookUpFails)) {
        database.kernel.count('fault:store:look-up-failed')
        return failed(link, 'the look-up failed')
      }
      const slow = random.chance(database.faults.lookUpSlow)
      if (slow) database.kernel.count('fault:store:look-up-slow')
      return statements(link, 'look-up', database.lookUp(session, question), random.between(0, slow ? 200 : 3))
    },
    commit: (batch) => commit(link, batch),
    nextCommit: (fate) => {
      link.nextFate = fate
    },
    cutOff: () => {
      database.connections.disconnect(link.connection)
      for (const cut of link.cuts) cut()
    },
  }
}

function orLocked(answer: (changed: boolean) => void, fail: (detail: string) => void) {
  return (changed: boolean | undefined): void => {
    if (changed === undefined) fail('the row stayed locked')
    else answer(changed)
  }
}

interface Link {
  readonly database: SimDatabase
  readonly process: SimProcess
  readonly random: SeededRandom
  readonly session: string
  readonly nodeId: string
  readonly onStopped: (reason: string, cause: StopCause) => void
  readonly looksAtServer: boolean
  /** The first server seen remains the only one (N1). */
  firstServer: SimServer | undefined
  readonly evidence: SimEvidence
  /** Why it has stopped for good; undefined while it has not. */
  stopped: string | undefined
  connection: Connection
  nextFate: CommitFate | undefined
  /** Called for the commits in flight when the connection is cut. */
  readonly cuts: Set<() => void>
}

/** The next call replaces a connection that the server ended, or that carries a commit in doubt. */
function openConnection(link: Link): Connection {
  if (link.connection.open || link.stopped !== undefined) return link.connection
  link.connection = link.database.connections.connect(link.session, link.nodeId)
  lookAtServer(link)
  return link.connection
}

/** Checks the server of every connection before its first statement; the store stops if it may not continue. */
function lookAtServer(link: Link): void {
  const { database, connection, firstServer } = link
  if (!connection.open) return
  const refusal = link.looksAtServer ? database.refusalOf(firstServer) : undefined
  if (refusal !== undefined) {
    database.kernel.count(firstServer === undefined ? 'store:unknown-server-refused' : 'store:other-server-refused')
    return stop(link, refusal, database.server.wentBack ? 'went_back' : 'server')
  }
  link.firstServer ??= database.server
  const lacking = link.evidence.lackingShard(database.rows)
  if (lacking !== undefined) {
    database.withdraw()
    stop(link, `the database went back: shard ${lacking} lacks committed rows`, 'went_back')
  }
}

function stop(link: Link, reason: string, cause: StopCause): void {
  link.stopped = reason
  link.database.connections.end(link.connection)
  link.process.later(tripOf(link), 'store stops', () => link.onStopped(reason, cause))
}

/** Arrived statements of a dead process continue; then its session lock is free. */
function closeAfterEnd({ database, session, random }: Link): void {
  const noticedMs = random.between(NOTICED_END_MS.from, NOTICED_END_MS.to)
  database.kernel.schedule(noticedMs, `database notices the end of ${session}`, () =>
    database.connections.leave(session),
  )
}

/** All messages in both directions are lost; callers time out. */
function isCutOff({ database, nodeId }: Link): boolean {
  return database.cutOff.has(nodeId)
}

function tripOf({ random, database, nodeId }: Link): number {
  const farMs = database.far.get(nodeId) ?? 0
  if (farMs > 0) database.kernel.count('fault:store:far')
  return random.between(0.05, USUAL_TRIP_MS + farMs)
}

function executionOf({ random, database }: Link): number {
  if (!random.chance(database.faults.slow)) return random.between(0.05, USUAL_EXECUTION_MS)
  database.kernel.count('fault:store:slow')
  return random.between(USUAL_EXECUTION_MS, SLOW_EXECUTION_MS)
}

function failed<T>(link: Link, detail: string): Promise<T> {
  return link.process.promise((_, reject) => {
    link.process.later(tripOf(link), 'store fails', () => reject(new LedgerStoreUnavailable(detail)))
  })
}

/** Sends a call that may be repeated without harm; its failure is an error and may hide an effect. */
function call<T>(link: Link, { label, serve, answersAfterMs }: ServerCall<T>): Promise<T> {
  const { database, process, random } = link
  const connection = openConnection(link)
  if (link.stopped !== undefined) return failed(link, link.stopped)
  const { kernel, faults } = database
  const callLost = random.chance(faults.callLost)
  const answerLost = !callLost && random.chance(faults.callAnswerLost)
  if (callLost) kernel.count('fault:store:call-lost')
  if (answerLost) kernel.count('fault:store:call-answer-lost')
  return process.promise((resolve, reject) => {
    const fail = (detail: string): void => reject(new LedgerStoreUnavailable(detail))
    const noAnswer = afterMonotonic(process, CALL_TIMEOUT_MS, `${label} times out`, () => fail('no answer'))
    const onEnded = (): void => {
      if (isCutOff(link)) return
      process.later(tripOf(link), `${label} loses its connection`, () => fail('the connection was lost'))
    }
    connection.onEnded.add(onEnded)
    const back = (run: () => void): void => {
      connection.onEnded.delete(onEnded)
      if (answerLost || isCutOff(link)) return
      process.later(answersAfterMs ?? tripOf(link), `${label} answered`, () => {
        noAnswer.cancel()
        run()
      })
    }
    if (callLost) return
    kernel.schedule(tripOf(link), `${label} of ${link.session} arrives`, () => {
      if (!database.connections.reaches(connection) || isCutOff(link)) return
      serve(
        connection,
        (value) => back(() => resolve(value)),
        (detail) => back(() => fail(detail)),
      )
    })
  })
}

/** Runs each statement at a random moment before the answer. */
function statements<T>(link: Link, label: string, asked: Statements<T>, takesMs: number): Promise<T> {
  const { kernel } = link.database
  const moments = asked.statements.map(() => link.random.fraction() * takesMs)
  const lastMs = Math.max(0, ...moments)
  let waiting = asked.statements.length
  return call(link, {
    label,
    answersAfterMs: takesMs - lastMs,
    serve: (connection, answer) => {
      if (waiting === 0) answer(asked.answer())
      asked.statements.forEach((run, index) => {
        kernel.schedule(moments[index] ?? 0, `database ${label}`, () => {
          if (!link.database.connections.reaches(connection)) return
          link.database.reads(connection)
          run()
          waiting -= 1
          if (waiting === 0) answer(asked.answer())
        })
      })
    },
  })
}

/** Times out by the process's own clock: a paused process finds out when it wakes. */
function afterMonotonic(process: SimProcess, delayMs: number, label: string, run: () => void): { cancel: () => void } {
  const deadlineMs = process.monotonicMs() + delayMs
  return process.later(process.untilMonotonic(deadlineMs), label, run, 'timer')
}

export type CommitFate = 'usual' | 'refused' | 'answer_lost' | 'lost' | 'late' | 'stuck'

function fateOf(link: Link): CommitFate {
  const { database, random, nextFate } = link
  link.nextFate = undefined
  if (nextFate !== undefined) return nextFate
  const { faults, kernel } = database
  const fates = [
    ['refused', faults.commitRefused, 'commit-refused'],
    ['answer_lost', faults.commitAppliedAnswerLost, 'commit-applied-answer-lost'],
    ['lost', faults.commitLostAnswerLost, 'commit-lost'],
    ['late', faults.commitLate, 'commit-late'],
    ['stuck', faults.commitStuck, 'commit-stuck'],
  ] as const
  for (const [fate, rate, counter] of fates) {
    if (!random.chance(rate)) continue
    kernel.count(`fault:store:${counter}`)
    return fate
  }
  return 'usual'
}

function commit(link: Link, batch: CommitBatch): Promise<CommitVerdict> {
  const { database, process, random, session } = link
  const connection = openConnection(link)
  if (link.stopped !== undefined) return Promise.resolve({ kind: 'unknown', detail: link.stopped })
  const ordered = link.nextFate !== undefined
  const fate = fateOf(link)
  const lateMs = fate === 'late' ? random.between(LATE_ARRIVAL_MS.from, LATE_ARRIVAL_MS.to) : 0
  const executionMs =
    fate === 'stuck' ? random.between(STUCK_EXECUTION_MS.from, STUCK_EXECUTION_MS.to) : executionOf(link)
  return process.promise((resolve) => {
    let settled = false
    const settle = (verdict: CommitVerdict): void => {
      if (settled) return
      settled = true
      noAnswer.cancel()
      connection.onEnded.delete(onEnded)
      link.cuts.delete(cut)
      // A commit in doubt may still run: its connection is left open, and ended before the next attempt.
      if (verdict.kind === 'unknown') database.connections.disconnect(connection)
      if (verdict.kind === 'answered') link.evidence.note(batch, verdict.committed)
      resolve(verdict)
    }
    const unknown = (detail: string): void => settle({ kind: 'unknown', detail })
    const noAnswer = afterMonotonic(process, COMMIT_TIMEOUT_MS, 'commit times out', () => unknown('no answer'))
    const onEnded = (): void => {
      if (isCutOff(link)) return
      process.later(tripOf(link), 'commit loses its connection', () => unknown('the connection was lost'))
    }
    const cut = (): void => unknown('the connection was cut')
    connection.onEnded.add(onEnded)
    link.cuts.add(cut)
    connection.pending += 1
    const finished = (verdict: CommitVerdict | undefined): void => {
      database.connections.finish(connection)
      if (verdict === undefined || isCutOff(link)) return
      process.later(tripOf(link), 'commit answered', () => settle(verdict))
    }
    // The client often learns at once that its connection is gone, while its commit is still under way: its next calls
    // may end the commit. A fate that a test has set always occurs.
    if (!ordered && (fate === 'answer_lost' || fate === 'lost' || fate === 'late') && random.chance(0.6)) {
      process.later(random.between(0, 10), 'commit loses its connection', () => unknown('the connection was lost'))
    }
    database.kernel.schedule(tripOf(link) + lateMs, `commit of ${session} arrives`, () => {
      if (connection.ended) return
      if (isCutOff(link)) return finished(undefined)
      // A killed process may lose messages that had not left its host.
      if (!process.alive() && random.chance(0.5)) finished(undefined)
      else if (database.isFull && writesRows(batch)) {
        database.kernel.count('fault:store:full')
        finished({ kind: 'failed', cause: 'transient', detail: 'the disk is full' })
      } else if (fate === 'refused')
        finished({ kind: 'failed', cause: 'transient', detail: 'refused by the simulation' })
      else if (fate === 'lost') finished(undefined)
      else {
        database.commit(connection, batch, executionMs, (verdict) => {
          if (tookEffectWhole(batch, verdict) && random.chance(database.faults.commitDoubled))
            arriveAgain(link, connection, batch)
          finished(fate === 'answer_lost' ? undefined : verdict)
        })
      }
    })
  })
}

/** Whether the batch writes rows. Otherwise it only checks its fence. */
function writesRows({ shards }: CommitBatch): boolean {
  return shards.some(({ accounts, actors, marks }) => accounts.length + actors.length + marks.length > 0)
}

/**
 * A second copy of a commit that skipped a busy shard would be the first for that shard, whose owner considers it
 * unwritten.
 */
function tookEffectWhole({ shards }: CommitBatch, verdict: CommitVerdict): boolean {
  return verdict.kind === 'answered' && verdict.committed.size === shards.length
}

/** Sends a second copy whose answer is ignored. */
function arriveAgain(link: Link, connection: Connection, batch: CommitBatch): void {
  const { database, random, session } = link
  connection.pending += 1
  database.kernel.schedule(random.between(0, COPY_AFTER_MS), `commit of ${session} arrives again`, () => {
    if (connection.ended) return
    database.kernel.count('fault:store:commit-doubled')
    const finished = (): void => database.connections.finish(connection)
    database.commit(connection, batch, executionOf(link), finished, 'second')
  })
}
