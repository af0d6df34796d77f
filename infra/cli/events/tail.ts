/**
 * `ledger events tail`: prints the events of an edge's stream.
 *   T1. After a lost connection it continues behind the last event that it printed: it omits and repeats none.
 *   T2. An error before the first response ends the command, because the address may be wrong. A 4xx always ends it.
 *   T3. A connection without a line for SILENT_MS is lost. The edge sends a comment every 15 s.
 */
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import { CommandFailed, type CommandIo, type CommandSetup } from '../common/command.ts'
import { type HttpClient, LedgerNotReady, LedgerUnreachable, problemText, readReply } from '../common/http-client.ts'
import { escapedJson, shownText } from '../common/shown-text.ts'
import { addClientOptions, type ClientOptions, openHttpClient } from '../profile/client-options.ts'
import { createPatientClient } from '../common/patient-client.ts'
import { blocksOf, type ServerSentBlock } from './server-sent-events.ts'

const STREAM_TYPE = 'text/event-stream'
const SILENT_MS = 45_000
const RETRY_MS = 3_000
const OK = 200
const INTERNAL_ERROR = 500
const BEGIN = 'begin'
const LATEST = 'latest'

interface TailOptions extends ClientOptions {
  readonly after: string
  readonly types?: string
  readonly account?: string
}

export const tailCommand: CommandSetup = (command: Command, io) => {
  addClientOptions(
    command.description(
      `Prints each event as one line of JSON (a CloudEvent), until Ctrl-C or until the reader of the output
ends. After Ctrl-C it prints the cursor behind the last event to standard error. A lost connection is
opened again, and no event is omitted or repeated.`,
    ),
    'client ID; a scoped client gets the events of its accounts',
  )
    .option('--after <cursor>', `${BEGIN}, ${LATEST}, or the cursor of an earlier run`, LATEST)
    .option('--types <type,...>', 'only these types, such as ledger.transaction.*')
    .option('--account <id>', 'only events that concern this account')
    .action(async (options: TailOptions) => {
      const tail = new Tail(await openHttpClient(options, io), options, io)
      await tail.begin()
      const stop = io.stopSignal()
      await tail.follow(stop)
      refuseFailedOutput(stop.reason)
    })
}

/** The reader of a pipe may end first. */
function refuseFailedOutput(reason: unknown): void {
  if (!isOutputFailure(reason)) return
  if (!('code' in reason && reason.code === 'EPIPE')) {
    throw new CommandFailed(`standard output cannot be written: ${reason.message}`, { cause: reason })
  }
}

function isOutputFailure(reason: unknown): reason is Error {
  return reason instanceof Error && reason.name !== 'AbortError'
}

class Tail {
  private readonly client: HttpClient
  private readonly options: TailOptions
  private readonly io: CommandIo
  /** undefined: the next event is the first of the ledger. */
  private cursor: string | undefined
  private retryMs = RETRY_MS
  private hasReplied = false
  private isLossPrinted = false

  constructor(client: HttpClient, options: TailOptions, io: CommandIo) {
    this.client = client
    this.options = options
    this.io = io
  }

  /** Replaces `latest` by a cursor, so that a second connection continues at the same place (T1). */
  async begin(): Promise<void> {
    const { after } = this.options
    this.cursor = after === LATEST ? await this.latestCursor() : after === BEGIN ? undefined : after
  }

  async follow(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const pauseMs = await this.connect(stop)
      await pause(pauseMs, undefined, { signal: stop }).catch(() => undefined)
    }
    // Without its output the cursor may be behind events that were not written.
    if (this.cursor !== undefined && !isOutputFailure(stop.reason))
      this.io.err(`to continue behind the last event: --after ${shownText(this.cursor)}\n`)
  }

  private async latestCursor(): Promise<string> {
    const reply = await createPatientClient(this.client, this.io).request('GET', this.path(LATEST))
    const { next_cursor: cursor } = reply.body
    if (reply.status !== OK || typeof cursor !== 'string') throw new CommandFailed(problemText(reply))
    this.hasReplied = true
    return cursor
  }

  private path(after?: string): string {
    const { types, account } = this.options
    const given = { after, types, account_id: account }
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, value)
    return `/v1/events?${query.toString()}`
  }

  /** Prints the events of one connection. Returns the pause before the next one. */
  private async connect(stop: AbortSignal): Promise<number> {
    const silence = new AbortController()
    const timer = setTimeout(() => silence.abort(), SILENT_MS)
    try {
      const response = await this.client.send('GET', this.path(), {
        headers: { accept: STREAM_TYPE, ...(this.cursor === undefined ? {} : { 'last-event-id': this.cursor }) },
        signal: AbortSignal.any([stop, silence.signal]),
      })
      this.hasReplied = true
      const { status, body } = response
      const isStream = status === OK && response.headers.get('content-type')?.startsWith(STREAM_TYPE) === true
      if (!isStream || body === null) {
        const reply = await readReply(response)
        if (status === OK) throw new CommandFailed('the ledger sent no stream of events: it is another version')
        if (status < INTERNAL_ERROR) throw new CommandFailed(problemText(reply))
        this.printLoss(problemText(reply))
        return Math.max((reply.retryAfterS ?? 0) * 1_000, this.retryMs)
      }
      this.isLossPrinted = false
      for await (const block of blocksOf(Readable.fromWeb(body) as AsyncIterable<Uint8Array>)) {
        timer.refresh()
        this.take(block)
        if (stop.aborted) break
      }
      // The edge ends the stream with the access token.
    } catch (error) {
      if (!stop.aborted) this.refuseOrPrint(error)
    } finally {
      clearTimeout(timer)
    }
    return this.retryMs
  }

  private take({ id, data, retryMs }: ServerSentBlock): void {
    if (retryMs !== null) this.retryMs = retryMs
    if (data !== null) this.io.out(`${escapedJson(data)}\n`)
    if (id !== null) this.cursor = id
  }

  /** T2. */
  private refuseOrPrint(error: unknown): void {
    const isBefore = !this.hasReplied && !(error instanceof LedgerNotReady)
    const isRefusal = error instanceof CommandFailed && !(error instanceof LedgerUnreachable)
    if (isBefore || isRefusal) throw error
    this.printLoss(error instanceof LedgerUnreachable ? error.message : 'the connection was lost')
  }

  private printLoss(why: string): void {
    if (!this.isLossPrinted) this.io.err(`${why}; connecting again (Ctrl-C ends it)\n`)
    this.isLossPrinted = true
  }
}
