import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { CommandIo } from '../../../infra/cli/common/command.ts'
import { main } from '../../../infra/main/ledger.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

interface RunOptions {
  /** Called with the whole output so far. */
  readonly printed?: (out: string) => void
  /** Called with the whole text for people so far. */
  readonly wrote?: (err: string) => void
  readonly stopSignal?: CommandIo['stopSignal']
  /** The streams are terminals, and this is typed at a hidden prompt. */
  readonly typed?: string
}

/** A new directory, and the command line in it. */
export function commandLine() {
  const cwd = mkdtempSync(join(tmpdir(), 'ledger-cli-'))
  return {
    cwd,
    write: (name: string, value: unknown): string => {
      writeFileSync(join(cwd, name), typeof value === 'string' ? value : JSON.stringify(value))
      return name
    },
    run: async (
      args: readonly string[],
      input = '',
      env: CommandIo['env'] = {},
      { printed, wrote, stopSignal = () => new AbortController().signal, typed }: RunOptions = {},
    ): Promise<Ran> => {
      let out = ''
      let err = ''
      const io: CommandIo = {
        env,
        cwd,
        readInput: () => Promise.resolve(Buffer.from(input)),
        readHidden: (prompt) => {
          err += prompt
          return typed === undefined ? Promise.reject(new Error('no terminal')) : Promise.resolve(typed)
        },
        terminal: { input: typed !== undefined, output: typed !== undefined, error: typed !== undefined },
        out: (text) => {
          out += text
          printed?.(out)
        },
        err: (text) => {
          err += text
          wrote?.(err)
        },
        stopSignal,
      }
      return { code: await main(args, io), out, err }
    },
  }
}

/** The URL of an HTTP server with this handler, and its stop, which also runs at the end of the test. */
export async function serving(handler: RequestListener) {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = async () => {
    server.closeAllConnections()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  onTestFinished(stop)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}
