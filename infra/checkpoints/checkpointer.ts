/**
 * Writes a signed checkpoint of the entries of all chains every minute. Each links to the one before it.
 *   C1. One checkpointer works at a time, and only when a checkpoint is due. An advisory lock on its connection ensures this.
 *   C2. It continues from the sums of the last checkpoint if the service signed them. It reads only newer entries, and
 *       pauses in proportion to its work.
 *   C3. A checkpoint covers all commits below a transaction number under which no commit can follow. Its sums can
 *       therefore be recomputed from the entries at any time.
 *   C4. It logs an error if the newest stored checkpoint is older than or differs from the newest it has seen.
 *   C5. C3 does not hold for entries restored from another cluster with higher transaction numbers. Checkpoints wait until
 *       this cluster's numbers have passed them.
 */
import type { Clock, Timer } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { ServiceKeys } from '../../runtime/ports/service-keys.ts'
import type { DeriveKey } from '../keys/root-secret.ts'
import { readServer, refusalOf } from '../postgres/connection/accepted-servers.ts'
import { connect, type Connection } from '../postgres/connection/connection.ts'
import { PLAN_SETTINGS } from '../postgres/connection/plan-settings.ts'
import {
  addPiece,
  CheckpointUnreadable,
  feedNow,
  insertCheckpoint,
  newestCheckpoint,
  removeOldCheckpoints,
  type StoredCheckpoint,
  sumsOf,
} from './checkpoint-rows.ts'
import {
  type CheckpointLink,
  levelAt,
  linksAfter,
  linkTo,
  NO_LINKS,
  problemOfSigned,
  readCheckpoint,
  signedAtMs,
  signStatement,
} from './checkpoint-statement.ts'
import { type CheckpointKeys, checkpointKeys, ChainSums } from './checkpoint-sums.ts'

export interface CheckpointerOptions {
  readonly url: string
  readonly ledgerId: string
  readonly shardCount: number
  readonly derive: DeriveKey
  readonly serviceKeys: ServiceKeys
  readonly clock: Clock
  readonly log: Log
  /** Milliseconds between checkpoints. */
  readonly everyMs?: number
}

const EVERY_MS = 60_000
/** Advisory lock of the checkpointer. Arbitrary, and different from every session's key. */
const LOCK = '7810198402634810715'
const STATEMENT_TIMEOUT_MS = 10_000
/** Largest fraction of one processor used to catch up. */
const SHARE = 0.2

interface Progress {
  readonly newest: StoredCheckpoint | undefined
  readonly sums: ChainSums
  readonly position: string
}

export class Checkpointer {
  private readonly options: CheckpointerOptions
  private readonly everyMs: number
  private readonly keys: CheckpointKeys
  private newestSeen: CheckpointLink | undefined
  private connection: Connection | undefined
  private stopping = false
  private wake: () => void = () => undefined
  private running: Promise<void> = Promise.resolve()

  constructor(options: CheckpointerOptions) {
    this.options = options
    this.everyMs = options.everyMs ?? EVERY_MS
    this.keys = checkpointKeys(options.derive)
  }

  start(): void {
    this.running = this.run()
  }

  async stop(): Promise<void> {
    this.stopping = true
    this.wake()
    this.connection?.destroy()
    await this.running
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      try {
        await this.writeOne()
      } catch (error) {
        if (!this.stopping) this.options.log.error('checkpoint_failed', { because: reasonOf(error) })
      }
      await this.rest(this.everyMs)
    }
  }

  /** Writes one checkpoint if one is due and no other process holds the lock (C1). */
  async writeOne(): Promise<'written' | 'not due'> {
    const { url } = this.options
    const settings = { ...PLAN_SETTINGS, statement_timeout: String(STATEMENT_TIMEOUT_MS) }
    const connection = await connect({ url, applicationName: 'ledger checkpoints', settings })
    this.connection = connection
    try {
      const [row] = await connection.sql<{ taken: boolean }[]>`SELECT pg_try_advisory_lock(${LOCK}::bigint) AS taken`
      return row?.taken === true ? await this.writeAlone(connection) : 'not due'
    } finally {
      this.connection = undefined
      await connection.end()
    }
  }

  private async writeAlone({ sql }: Connection): Promise<'written' | 'not due'> {
    const { clock, log } = this.options
    const newest = await newestCheckpoint(sql)
    this.checkNewest(newest)
    // Timers of several processes drift: a checkpoint that is almost due counts as due.
    if (newest !== undefined && clock.now() - signedAtMs(newest.statement) < this.everyMs * 0.9) return 'not due'
    // A refused server may lack commits. A checkpoint of it would make the loss official.
    if (refusalOf(await readServer(sql)) !== undefined) return 'not due'
    const now = await feedNow(sql)
    if (now.foreign) {
      log.warn('checkpoints_paused', { because: 'the database was brought in from another PostgreSQL cluster' })
      return 'not due'
    }
    const progress = await this.catchUp(sql, await this.progressOf(sql, newest, now.server))
    const written = await this.write(sql, progress, now.server)
    if (written.statement.level !== 'minute') await removeOldCheckpoints(sql, clock.now())
    return 'written'
  }

  /** C4. */
  private checkNewest(newest: StoredCheckpoint | undefined): void {
    const link = newest === undefined ? undefined : linkTo(newest.statement, newest.signed)
    const { newestSeen } = this
    const differs = link?.number === newestSeen?.number && link?.hash !== newestSeen?.hash
    if (newestSeen !== undefined && (link === undefined || link.number < newestSeen.number || differs)) {
      this.options.log.error('checkpoints_lost', { known: newestSeen.number, found: link?.number ?? null })
    }
    this.newestSeen = link
  }

  /** C2. */
  private async progressOf(
    sql: Connection['sql'],
    newest: StoredCheckpoint | undefined,
    server: string,
  ): Promise<Progress> {
    const { ledgerId, serviceKeys, shardCount } = this.options
    const anew = { newest, sums: ChainSums.empty(this.keys, shardCount), position: '0' }
    if (newest === undefined) return anew
    const { statement, signed } = newest
    // A key that was revoked since is accepted: the sums are sealed, and the next checkpoint has a valid key.
    const keys = serviceKeys.published().map((key) => ({ ...key, revokedAtMs: null }))
    const problem = problemOfSigned(statement, signed, keys, ledgerId)
    if (problem !== undefined) {
      throw new CheckpointUnreadable(`checkpoint ${statement.number}: ${problem}`)
    }
    if (statement.server !== server) return anew
    const sealed = await sumsOf(sql, statement.number)
    if (sealed === undefined) throw new CheckpointUnreadable(`checkpoint ${statement.number} is gone`)
    const sums = ChainSums.open(this.keys, shardCount, statement.number, sealed)
    if (sums.digest() !== statement.chains) {
      throw new CheckpointUnreadable(`checkpoint ${statement.number}: its sums are not those that were signed`)
    }
    return { newest, sums, position: statement.position }
  }

  private async catchUp(sql: Connection['sql'], before: Progress): Promise<Progress> {
    const { clock } = this.options
    let { position } = before
    for (;;) {
      if (this.stopping) throw new Error('the checkpointer is stopping')
      const startedMs = clock.monotonic()
      const { settled } = await feedNow(sql)
      // After a crash the server may continue from a slightly lower transaction number.
      if (BigInt(settled) <= BigInt(position)) return { ...before, position }
      const added = await addPiece(sql, { from: position, until: settled }, (shardId, entry) =>
        before.sums.add(shardId, entry),
      )
      position = added.position
      if (position === settled) return { ...before, position }
      await this.rest((clock.monotonic() - startedMs) * (1 / SHARE - 1))
    }
  }

  private async write(
    sql: Connection['sql'],
    { newest, sums, position }: Progress,
    server: string,
  ): Promise<StoredCheckpoint> {
    const { ledgerId, serviceKeys, clock, log } = this.options
    const nowMs = clock.now()
    const number = (newest?.statement.number ?? 0) + 1
    const level = levelAt(nowMs, newest === undefined ? null : signedAtMs(newest.statement))
    const signed = await signStatement(
      { ledgerId, keys: serviceKeys, nowMs: () => nowMs },
      {
        type: 'checkpoint',
        number,
        level,
        server,
        position,
        chains: sums.digest(),
        links: newest === undefined ? NO_LINKS : linksAfter(newest.statement, newest.signed),
      },
    )
    const statement = readCheckpoint(signed.text)
    if (statement === undefined) throw new Error('the new checkpoint does not match its schema')
    const written = { statement, signed }
    if (!(await insertCheckpoint(sql, written, sums.seal(this.keys, number)))) {
      throw new Error('another process wrote a checkpoint without the lock')
    }
    this.newestSeen = linkTo(statement, signed)
    // A copy of the log outside the database shows later whether the table still holds this checkpoint.
    if (level === 'minute') log.debug?.('checkpoint_written', { ...this.newestSeen })
    else log.info('checkpoint_written', { ...this.newestSeen })
    return written
  }

  private async rest(durationMs: number): Promise<void> {
    if (this.stopping) return
    let timer: Timer | undefined
    await new Promise<void>((resolve) => {
      this.wake = resolve
      timer = this.options.clock.after(durationMs, resolve)
    })
    timer?.cancel()
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof CheckpointUnreadable) return error.message
  return error instanceof Error ? error.name : 'unknown'
}
