/** The streams, signals and environment of this process, as commands use them. */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { CommandFailed, type CommandIo } from '../cli/common/command.ts'

/** Of a command whose outcome the caller does not know, as in ledger.ts. */
const EXIT_UNKNOWN = 3

/**
 * A failed output never changes an exit code other than 0. A reader that ends early does not change 0 either: the command
 * had its effect. Output that is lost for another reason, such as a full disk, makes it 3.
 */
export function processIo(): CommandIo {
  let failure: Error | undefined
  process.stdout.on('error', (error) => (failure ??= error))
  process.stderr.on('error', () => undefined)
  process.once('exit', (code) => {
    if (code !== 0 || failure === undefined || isReaderGone(failure)) return
    process.stderr.write(`ledger: the command is done, but its output could not be written: ${failure.message}\n`)
    process.exitCode = EXIT_UNKNOWN
  })
  return {
    env: process.env,
    cwd: process.cwd(),
    readInput: async () => {
      const chunks: Buffer[] = []
      for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array))
      return Buffer.concat(chunks)
    },
    readHidden,
    terminal: { input: isatty(0), output: isatty(1), error: isatty(2) },
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    stopSignal,
  }
}

function isReaderGone(error: Error): boolean {
  return 'code' in error && error.code === 'EPIPE'
}

/** readline puts the terminal into raw mode, so that only its output, which is discarded here, would show the input. */
function readHidden(prompt: string): Promise<string> {
  const discarded = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: discarded, terminal: true })
  process.stderr.write(prompt)
  return new Promise<string>((resolve, reject) => {
    lines.once('line', resolve)
    // Ctrl-C and Ctrl-D. After a line the promise is resolved already.
    lines.once('close', () => reject(new CommandFailed('interrupted')))
    lines.once('SIGINT', () => lines.close())
  }).finally(() => {
    lines.close()
    process.stderr.write('\n')
  })
}

function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort())
  process.stdout.on('error', (error) => stop.abort(error))
  return stop.signal
}
