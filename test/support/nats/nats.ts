/** A nats-server for tests: throw-away, and able to fall silent, die, come back and forget. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startNats } from '../../../infra/embedded/nats-server.ts'
import { connectNats, type NatsLink } from '../../../infra/nats/connection.ts'
import type { Log } from '../../../runtime/ports/log.ts'
import { freePort } from '../processes/free-ports.ts'
import { until } from './nats-until.ts'

export interface TestNats {
  readonly url: () => string
  readonly connect: (name: string) => Promise<NatsLink>
  /** Stops the server; `start` brings it back on the same port. */
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
  /** Stops the process in its tracks: connections stay open, nothing is answered. */
  readonly freeze: () => Promise<void>
  readonly thaw: () => void
  /** Has the files of its streams. */
  readonly storeDir: string
  /** Stops the server and removes all that it stored. */
  readonly empty: () => Promise<void>
  /** Closes every connection and removes everything. */
  readonly close: () => Promise<void>
}

export const SILENT_LOG: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }

export async function startTestNats(): Promise<TestNats> {
  const storeDir = mkdtempSync(join(tmpdir(), 'ledger-nats-'))
  const links: NatsLink[] = []
  const port = await freePort()
  let server = await startNats({ storeDir, port })
  const start = async (): Promise<void> => {
    server = await startNats({ storeDir, port })
  }
  return {
    storeDir,
    url: () => server.url,
    connect: async (name) => {
      const link = await connectNats({ urls: [server.url], name, inboxPrefix: `_INBOX_${name}`, log: SILENT_LOG })
      links.push(link)
      return link
    },
    stop: () => server.stop(),
    start,
    freeze: async () => {
      process.kill(server.pid, 'SIGSTOP')
      await until(() => isFrozen(server.pid))
    },
    thaw: () => process.kill(server.pid, 'SIGCONT'),
    empty: async () => {
      await server.stop()
      rmSync(join(storeDir, 'jetstream'), { recursive: true, force: true })
    },
    close: async () => {
      await Promise.all(links.map((link) => link.close()))
      await server.stop()
      rmSync(storeDir, { recursive: true, force: true })
    },
  }
}

/** A signal stops the threads of a process one by one. */
export function isFrozen(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const [, state] = /\) (\S)/.exec(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1')) ?? []
    return state === 'T'
  })
}
