/**
 * One run of a key program (key-protocol.ts).
 *   C1. Each request has a deadline. After a failure the process is of no further use: `stop` kills its whole process group.
 *   C2. The program gets no variable of the ledger and none of OpenTelemetry, and no secret as an argument.
 *   C3. Nothing that the program writes is logged, except error codes of the protocol.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import * as v from 'valibot'
import { OutsideKeysUnavailable } from './outside-keys.ts'
import { type KeyOperation, type KeyReply, MAX_LINE_BYTES, replySchema } from './key-protocol.ts'

export interface KeyProcess {
  /** Throws KeyProgramFailed. */
  readonly ask: (op: KeyOperation, key: string, data: readonly Buffer[]) => Promise<readonly Buffer[]>
  readonly hasEnded: () => boolean
  readonly stop: () => void
}

/** `code`: not_started, exited, timed_out, malformed_reply, overloaded, or the code of the program. */
export class KeyProgramFailed extends OutsideKeysUnavailable {
  readonly code: string

  constructor(code: string) {
    super(`the key program failed: ${code}`)
    this.code = code
  }
}

const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['not_started', 'There is no such program: correct LEDGER_KEY_COMMAND.'],
  ['exited', 'Run LEDGER_KEY_COMMAND by hand: its errors are not shown here.'],
  ['timed_out', 'Run LEDGER_KEY_COMMAND by hand: it must reply to each line of its input.'],
  ['malformed_reply', 'LEDGER_KEY_COMMAND does not speak the protocol of key programs (infra/keys/README.md).'],
  ['key_not_found', 'Correct the name of the key, or create the key.'],
  ['login_refused', 'Correct the PIN: after a few wrong ones the device locks itself.'],
])

/** For a person who starts a command, with a space before it; empty if the code says no more. */
export function remedyOf(error: Error): string {
  const remedy = error instanceof KeyProgramFailed ? REMEDIES.get(error.code) : undefined
  return remedy === undefined ? '' : ` ${remedy}`
}

export interface Deadlines {
  readonly deadlineMs: number
  readonly startMs: number
}

interface Waiting {
  readonly count: number
  readonly resolve: (results: readonly Buffer[]) => void
  readonly reject: (error: KeyProgramFailed) => void
}

const MAX_WAITING = 64

/** `startMs`: in place of `deadlineMs` until the first reply. */
export function startKeyProcess(
  [program = '', ...args]: readonly string[],
  { deadlineMs, startMs }: Deadlines,
): KeyProcess {
  const waiting = new Map<number, Waiting>()
  let hasEnded = false
  let hasAnswered = false
  let lastId = 0
  // A group of its own: a wrapper such as npx has children.
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], detached: true, env: ownEnvironment() })

  const end = (code: string): void => {
    hasEnded = true
    const all = [...waiting.values()]
    waiting.clear()
    for (const { reject } of all) reject(new KeyProgramFailed(code))
  }
  const stop = (): void => {
    end('exited')
    child.stdin.destroy()
    killGroup(child)
  }
  const fail = (code: string): void => {
    end(code)
    stop()
  }
  const take = (reply: KeyReply): void => {
    const asked = waiting.get(reply.id)
    const isOther = 'results' in reply && reply.results.length !== asked?.count
    if (asked === undefined || isOther) return fail('malformed_reply')
    waiting.delete(reply.id)
    hasAnswered = true
    if ('error' in reply) return asked.reject(new KeyProgramFailed(reply.error))
    asked.resolve(reply.results.map((text) => Buffer.from(text, 'base64')))
  }
  child.on('error', () => end('not_started'))
  // After the last line of its output.
  child.on('close', () => end('exited'))
  // It has ended: `close` follows, after its last reply.
  child.stdin.on('error', () => undefined)
  readReplies(child.stdout, fail, take)
  // The parent may end while the program runs.
  child.unref()

  return {
    hasEnded: () => hasEnded,
    stop,
    ask: (op, key, data) =>
      new Promise((resolve, reject) => {
        if (hasEnded) return reject(new KeyProgramFailed('exited'))
        if (waiting.size >= MAX_WAITING) return reject(new KeyProgramFailed('overloaded'))
        lastId += 1
        const id = lastId
        const timer = setTimeout(() => fail('timed_out'), hasAnswered ? deadlineMs : startMs)
        const count = op === 'public_key' ? 1 : data.length
        waiting.set(id, {
          count,
          resolve: (results) => (clearTimeout(timer), resolve(results)),
          reject: (error) => (clearTimeout(timer), reject(error)),
        })
        const request = { id, op, key, data: data.map((one) => one.toString('base64')) }
        child.stdin.write(`${JSON.stringify(request)}\n`)
      }),
  }
}

function readReplies(stdout: Readable, fail: (code: string) => void, take: (reply: KeyReply) => void): void {
  let unread = ''
  stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${unread}${text}`.split('\n')
    unread = lines.pop() ?? ''
    for (const line of lines) {
      const reply = v.safeParse(v.pipe(v.string(), v.parseJson(), replySchema), line)
      if (!reply.success) return fail('malformed_reply')
      take(reply.output)
    }
    if (unread.length > MAX_LINE_BYTES) fail('malformed_reply')
  })
}

/** C1. */
function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has ended meanwhile.
  }
}

/** C2. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(LEDGER|OTEL)_/.test(name)))
}
