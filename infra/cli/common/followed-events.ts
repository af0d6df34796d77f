/**
 * Prints events as they come, until Ctrl-C or until the reader of the output ends.
 *   F1. Over lost connections each event is printed once.
 *   F2. At the end the cursor behind the last printed event is returned, but not if the output failed: then events
 *       before it may not have been written.
 */
import type { Event, EventFilter, LedgerClient } from '../../../api/client/index.ts'
import { CommandFailed, type CommandIo } from './command.ts'

export const BEGIN = 'begin'
export const LATEST = 'latest'

export interface FollowRequest {
  /** `begin`, `latest` or a cursor. */
  readonly after: string
  readonly filter: Pick<EventFilter, 'types' | 'account_id' | 'onLost'>
  readonly limit?: number
  readonly print: (event: Event) => void
}

/** Undefined: there is no cursor yet, or none that is safe (F2). Throws LedgerError and CommandFailed. */
export async function printEvents(
  client: LedgerClient,
  { after, filter, limit = Number.POSITIVE_INFINITY, print }: FollowRequest,
  io: CommandIo,
): Promise<string | undefined> {
  let cursor = after === LATEST ? await endOfLog(client) : after === BEGIN ? undefined : after
  const stop = io.stopSignal()
  let printed = 0
  try {
    const from = cursor === undefined ? {} : { after: cursor }
    for await (const { cursor: next, event } of client.events({ ...filter, ...from, signal: stop })) {
      print(event)
      cursor = next
      printed += 1
      if (printed >= limit || stop.aborted) break
    }
  } catch (error) {
    if (!stop.aborted) throw error
  }
  if (!isOutputFailure(stop.reason)) return cursor
  refuseFailedOutput(stop.reason)
  return undefined
}

async function endOfLog(client: LedgerClient): Promise<string> {
  return (await client.call('listEvents', { query: { after: LATEST } })).next_cursor
}

function isOutputFailure(reason: unknown): reason is Error {
  return reason instanceof Error && reason.name !== 'AbortError'
}

/** The reader of a pipe may end first. */
function refuseFailedOutput(reason: Error): void {
  if ('code' in reason && reason.code === 'EPIPE') return
  throw new CommandFailed(`standard output cannot be written: ${reason.message}`, { cause: reason })
}
