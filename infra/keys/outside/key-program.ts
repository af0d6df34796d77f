/**
 * Keys outside, by a key program that stays running (key-protocol.ts).
 *   D1. A program that ends is started again, and what it did not answer is asked once more: every operation may be repeated.
 *   D2. After a failure the same operation by the same key is refused at once, until it succeeds. It is tried in the
 *       background, with back-off, in a process of its own: other keys go on. One line of the log tells of the failure, and
 *       one of its end.
 *   D3. After a refused login nothing is tried or asked any more: a device locks itself after a few wrong PINs.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../../../runtime/ports/log.ts'
import { type KeyProcess, KeyProgramFailed, startKeyProcess } from './key-process.ts'
import { type KeyOperation, LOGIN_REFUSED, MAX_ITEMS } from './key-protocol.ts'
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

/** With its repetition (D1) less than the time for which an edge waits. */
const DEADLINE_MS = 5_000
/** Of the first request, which waits for the start of the program. */
const START_MS = 15_000
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
  /** Codes of failures, by operation and key (D2). */
  const failures = new Map<string, string>()
  let isLoginRefused = false
  const closing = new AbortController()

  const started = (): KeyProcess => {
    if (running === undefined || running.hasEnded())
      running = startKeyProcess(command, { deadlineMs, startMs: START_MS })
    return running
  }

  async function recover(op: KeyOperation, key: string): Promise<void> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      await pause(pauseMs, undefined, { signal: closing.signal, ref: false })
      if (isLoginRefused) return
      const code = await triedOnce(command, deadlineMs, { op, key, signal: closing.signal })
      if (code === undefined) break
      isLoginRefused ||= code === LOGIN_REFUSED
    }
    failures.delete(`${op} ${key}`)
    log.info('key_program_recovered', { op })
  }

  const fell = (code: string, op: KeyOperation, key: string): void => {
    if (isLoginRefused || failures.has(`${op} ${key}`) || closing.signal.aborted) return
    failures.set(`${op} ${key}`, code)
    log.error('key_program_failed', { cause: code, op })
    isLoginRefused ||= code === LOGIN_REFUSED
    // Its sessions may be of no more use.
    running?.stop()
    // Ends with `close`.
    recover(op, key).catch(() => undefined)
  }

  const refuseFailed = (op: KeyOperation, key: string): void => {
    if (closing.signal.aborted) throw new KeyProgramFailed('closed')
    const code = isLoginRefused ? LOGIN_REFUSED : failures.get(`${op} ${key}`)
    if (code !== undefined) throw new KeyProgramFailed(code)
  }

  async function askOnce(op: KeyOperation, key: string, data: readonly Buffer[]): Promise<readonly Buffer[]> {
    refuseFailed(op, key)
    try {
      return await started().ask(op, key, data)
    } catch (error) {
      if (!(error instanceof KeyProgramFailed) || error.code !== 'exited') throw error
      refuseFailed(op, key)
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

/** In a process of its own. Returns the code of its failure; undefined: it succeeded. */
async function triedOnce(
  command: readonly string[],
  deadlineMs: number,
  { op, key, signal }: { readonly op: KeyOperation; readonly key: string; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const tried = startKeyProcess(command, { deadlineMs, startMs: START_MS })
  signal.addEventListener('abort', tried.stop)
  try {
    await tried.ask(op, key, op === 'public_key' ? [] : [TRIAL])
    return undefined
  } catch (error) {
    return error instanceof KeyProgramFailed ? error.code : 'failed'
  } finally {
    signal.removeEventListener('abort', tried.stop)
    tried.stop()
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
