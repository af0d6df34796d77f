/** `ledger events tail` as a process: its end by Ctrl-C and by a closed pipe, and its continuation at another edge. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { beforeAll, describe, expect, test } from 'vitest'
import { newAccountKeys } from '../../support/client/client-keys.ts'
import type { GetRunning } from '../running.ts'

const PROGRAM = join(import.meta.dirname, '..', '..', '..', 'infra', 'main', 'ledger.mjs')

export function eventsTailSuite(running: GetRunning): void {
  let secretFile = ''

  beforeAll(() => {
    const { dataDir, clients } = running().cluster
    secretFile = join(dataDir, 'viewer.secret')
    writeFileSync(secretFile, clients.viewer.clientSecret)
  })

  async function register(accountId: string): Promise<void> {
    const account = { account_id: accountId, public_key: newAccountKeys().jwk }
    expect((await running().client.post('/v1/accounts', account)).status).toBe(201)
  }

  function tail(url: string, ...args: readonly string[]): ChildProcessByStdio<null, Readable, Readable> {
    const { clientId } = running().cluster.clients.viewer
    const options = ['--url', url, '--client-id', clientId, '--secret-file', secretFile, ...args]
    return spawn(process.execPath, [PROGRAM, 'events', 'tail', ...options], { stdio: ['ignore', 'pipe', 'pipe'] })
  }

  async function firstSubject(child: ReturnType<typeof tail>): Promise<unknown> {
    const lines = createInterface(child.stdout)
    const [line] = (await once(lines, 'line')) as [string]
    return (JSON.parse(line) as { readonly subject: unknown }).subject
  }

  async function endOf(child: ReturnType<typeof tail>): Promise<{ readonly code: unknown; readonly err: string }> {
    let err = ''
    child.stderr.on('data', (part: Buffer) => (err += part.toString('utf8')))
    const [code] = (await once(child, 'close')) as [unknown]
    return { code, err }
  }

  describe('ledger events tail', () => {
    test('Ctrl-C ends it, and it continues at another edge from the printed cursor', async () => {
      const [here, there] = running().cluster.origins
      const first = tail(here ?? '', '--after', 'begin', '--account', 'tail-1')
      await register('tail-1')
      expect(await firstSubject(first)).toBe('tail-1')
      await register('tail-2')
      first.kill('SIGINT')
      const { code, err } = await endOf(first)
      expect([code, err]).toEqual([0, expect.stringMatching(/^to continue behind the last event: --after \S+\n$/)])
      const cursor = err.trim().split(' ').at(-1) ?? ''
      const second = tail(there ?? '', '--after', cursor, '--types', 'ledger.account.registered.v1')
      expect(await firstSubject(second)).toBe('tail-2')
      second.kill('SIGTERM')
      expect(await endOf(second)).toMatchObject({ code: 0 })
    })

    test('the end of its reader ends it', async () => {
      const child = tail(running().cluster.origin, '--after', 'begin', '--types', 'ledger.account.*')
      await firstSubject(child)
      child.stdout.destroy()
      const ended = endOf(child)
      await register('tail-3')
      // A cursor could be behind events that the reader did not take.
      expect(await ended).toEqual({ code: 0, err: '' })
    })
  })
}
