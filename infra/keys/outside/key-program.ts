/**
 * Keys outside, by a key program that stays running (key-protocol.ts).
 *   D1. A program that ends is started again, and what it did not answer is asked once more: every operation may be repeated.
 *   D2. After a failure every request is refused at once, until an operation of the failed kind succeeds. It is tried in the
 *       background, with back-off. One line of the log tells of the failure, and one of its end.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../../../runtime/ports/log.ts'
import { type KeyProcess, KeyProgramFailed, startKeyProcess } from './key-process.ts'
import { type KeyOperation, MAX_ITEMS } from './key-protocol.ts'
import type { OutsideKeys } from './outside-keys.ts'

export interface KeyProgramOptions {
  /** The program and its arguments. */
  readonly command: readonly string[]
  readonly log: Pick<Log, 'info' | 'error'>
  /** Of a request. */
  readonly deadlineMs?: number
  /** Bounds of the pause between two trials of a failed program. */
  readonly firstPauseMs?: number
  readonly longestPauseMs?: number
}

const DEADLINE_MS = 10_000
/** Of the first request, which waits for the start of the program. */
const START_MS = 30_000
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5_000
/** Data of the trial (D2). A signature of it is of no use: no document of the ledger has this digest. */
const TRIAL = Buffer.alloc(32)

export function createKeyProgram({
  command,
  log,
  deadlineMs = DEADLINE_MS,
  firstPauseMs = FIRST_PAUSE_MS,
  longestPauseMs = LONGEST_PAUSE_MS,
}: KeyProgramOptions): OutsideKeys {
  let running: KeyProcess | undefined
  /** The code of the failure (D2). */
  let failure: string | undefined
  const closing = new AbortController()

  const started = (): KeyProcess => {
    if (running === undefined || running.hasEnded())
      running = startKeyProcess(command, { deadlineMs, startMs: START_MS })
    return running
  }

  async function recover(op: KeyOperation, key: string): Promise<void> {
    const data = op === 'public_key' ? [] : [TRIAL]
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      await pause(pauseMs, undefined, { signal: closing.signal, ref: false })
      running?.stop()
      try {
        await started().ask(op, key, data)
        break
      } catch {
        running?.stop()
      }
    }
    failure = undefined
    log.info('key_program_recovered')
  }

  const fell = (code: string, op: KeyOperation, key: string): void => {
    if (failure !== undefined || closing.signal.aborted) return
    failure = code
    log.error('key_program_failed', { cause: code, op })
    // Ends with `close`.
    recover(op, key).catch(() => undefined)
  }

  async function askOnce(op: KeyOperation, key: string, data: readonly Buffer[]): Promise<readonly Buffer[]> {
    if (closing.signal.aborted) throw new KeyProgramFailed('closed')
    if (failure !== undefined) throw new KeyProgramFailed(failure)
    try {
      return await started().ask(op, key, data)
    } catch (error) {
      if (!(error instanceof KeyProgramFailed) || error.code !== 'exited' || failure !== undefined) throw error
      return await started().ask(op, key, data)
    }
  }

  async function ask(op: KeyOperation, key: string, data: readonly Buffer[]): Promise<readonly Buffer[]> {
    try {
      return await askOnce(op, key, data)
    } catch (error) {
      if (error instanceof KeyProgramFailed && error.code !== 'overloaded') fell(error.code, op, key)
      throw error
    }
  }

  return {
    mac: (key, data) => inParts(data, (part) => ask('mac', key, part)),
    sign: (key, digests) => inParts(digests, (part) => ask('sign', key, part)),
    publicKey: async (key) => textOfKey(await ask('public_key', key, [])),
    close: async () => {
      closing.abort()
      running?.stop()
    },
  }
}

async function inParts(
  data: readonly Buffer[],
  ask: (part: readonly Buffer[]) => Promise<readonly Buffer[]>,
): Promise<readonly Buffer[]> {
  const starts = Array.from({ length: Math.ceil(data.length / MAX_ITEMS) }, (_, index) => index * MAX_ITEMS)
  return (await Promise.all(starts.map((start) => ask(data.slice(start, start + MAX_ITEMS))))).flat()
}

/** PEM as it is, anything else in base64. */
function textOfKey([key = Buffer.alloc(0)]: readonly Buffer[]): string {
  const text = key.toString('utf8')
  return text.startsWith('-----BEGIN') ? text : key.toString('base64')
}
