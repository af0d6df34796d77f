/**
 * Writes a checkpoint every minute: which entries all chains had, and so where they ended, signed, each naming the one before it.
 *   C1. Of all that run, one works at a time, and only when a checkpoint is due: its connection holds a lock.
 *   C2. It goes on from the sums of the last checkpoint, whoever wrote that, and only if the service has signed it and the
 *       sums are those that were signed. What it reads is what was appended since; it rests in proportion to what it works.
 *   C3. A checkpoint holds what was committed below a transaction number under which nothing can come any more: what it
 *       says can be computed from the entries again, at any time.
 *   C4. What is in the table and is not what this process wrote last, or knows of, is said in the log.
 *   C5. Where entries were brought in from another cluster, whose numbers are above those that this one gives, C3 does not
 *       hold: nothing is written until its numbers have passed them.
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
  /** From one checkpoint to the next, in milliseconds. */
  readonly everyMs?: number
}

const EVERY_MS = 60_000
/** 'ledger checkpoints' in a key of 64 bits that no session's hash is made from. */
const LOCK = '7810198402634810715'
const STATEMENT_TIMEOUT_MS = 10_000
/** Of the time of one processor, while there is more to read than one piece. */
const SHARE = 0.2

/** Goes on from here. */
interface Standing {
  readonly newest: StoredCheckpoint | undefined
  readonly sums: ChainSums
  readonly position: string
}

export class Checkpointer {
  private readonly options: CheckpointerOptions
  private readonly everyMs: number
  private readonly keys: CheckpointKeys
  private known: CheckpointLink | undefined
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

  /** One checkpoint, if one is due and nobody else is at it (C1). */
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
    this.noteWhatIsThere(newest)
    // Those who look are never exactly this far apart.
    if (newest !== undefined && clock.now() - signedAtMs(newest.statement) < this.everyMs * 0.9) return 'not due'
    // What such a server lacks must not become what everything is held against: its edges end.
    if (refusalOf(await readServer(sql)) !== undefined) return 'not due'
    const now = await feedNow(sql)
    if (now.foreign) {
      log.warn('checkpoints_wait', { because: 'the database was brought in from another PostgreSQL cluster' })
      return 'not due'
    }
    const standing = await this.caughtUp(sql, await this.standingAt(sql, newest, now.server))
    const written = await this.write(sql, standing, now.server)
    if (written.statement.level !== 'minute') await removeOldCheckpoints(sql, clock.now())
    return 'written'
  }

  /** C4. */
  private noteWhatIsThere(newest: StoredCheckpoint | undefined): void {
    const link = newest === undefined ? undefined : linkTo(newest.statement, newest.signed)
    const { known } = this
    const isOther = link?.number === known?.number && link?.hash !== known?.hash
    if (known !== undefined && (link === undefined || link.number < known.number || isOther)) {
      this.options.log.error('checkpoints_went_back', { known: known.number, found: link?.number ?? null })
    }
    this.known = link
  }

  /** C2. */
  private async standingAt(
    sql: Connection['sql'],
    newest: StoredCheckpoint | undefined,
    server: string,
  ): Promise<Standing> {
    const { ledgerId, serviceKeys, shardCount } = this.options
    const anew = { newest, sums: ChainSums.empty(this.keys, shardCount), position: '0' }
    if (newest === undefined) return anew
    const { statement, signed } = newest
    // Of a key that was revoked since, too: the sums are sealed, and the next one is signed with a key that counts.
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

  private async caughtUp(sql: Connection['sql'], before: Standing): Promise<Standing> {
    const { clock } = this.options
    let { position } = before
    for (;;) {
      if (this.stopping) throw new Error('it was told to stop')
      const startedMs = clock.monotonic()
      const { settled } = await feedNow(sql)
      // After a crash the server may count from a little further back than it had come.
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
    { newest, sums, position }: Standing,
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
    if (statement === undefined) throw new Error('a new checkpoint is none')
    const written = { statement, signed }
    if (!(await insertCheckpoint(sql, written, sums.seal(this.keys, number)))) {
      throw new Error('somebody wrote a checkpoint without the lock')
    }
    this.known = linkTo(statement, signed)
    // Whoever keeps the log elsewhere keeps with it what the table must still say.
    if (level === 'minute') log.debug?.('checkpoint_written', { ...this.known })
    else log.info('checkpoint_written', { ...this.known })
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
