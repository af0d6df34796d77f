/** Goal: a scene that cannot be started leaves nothing running: what fails is one test, and not those after it. */
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { startPostgres } from '../../../infra/embedded/postgres-server.ts'
import { Closing } from '../../support/closing.ts'
import { startParts } from '../../support/cluster-parts.ts'
import { clusterProcesses } from '../../support/cluster-process-table.ts'

const SIZES = { nodes: 1, edges: 1, shards: 4, natsServers: 1 }

/** Kinds of the servers under this process, without those that it had before. */
function serversBeside(before: ReadonlySet<number>): readonly string[] {
  return servers()
    .filter(({ pid }) => !before.has(pid))
    .map(({ kind }) => kind)
}

function servers() {
  return clusterProcesses(process.pid).filter(({ pid, head }) => head && pid !== process.pid)
}

test('where `ledger migrate` fails, PostgreSQL and NATS are ended, and it is said why', async () => {
  // What serves other files of this process goes on.
  const before = new Set(servers().map(({ pid }) => pid))
  let running: readonly string[] = []
  let dataDir = ''
  const starting = startParts({
    ...SIZES,
    env: { LEDGER_LOG_LEVEL: 'loud' },
    startDatabase: async (place) => {
      const server = await startPostgres(place)
      dataDir = place.dataDir
      running = serversBeside(before)
      return server
    },
  })
  await expect(starting).rejects.toThrow(/^ledger migrate ended with 1:\n.*LEDGER_LOG_LEVEL is "loud"/s)
  expect(running).toEqual(['postgresql'])
  expect(serversBeside(before)).toEqual([])
  const directory = dataDir.split('/').at(-2) ?? ''
  expect(directory).toMatch(/^ledger-parts-/)
  expect(readdirSync(tmpdir())).not.toContain(directory)
})

test('the last begun ends first, each once, and one that cannot end leaves none of the others', async () => {
  const closing = new Closing()
  const ended: string[] = []
  closing.add(() => void ended.push('first'))
  closing.add(() => Promise.reject(new Error('stuck')))
  closing.add(() => void ended.push('last'))
  await expect(closing.close()).rejects.toThrow('not everything could be ended')
  expect(ended).toEqual(['last', 'first'])
  await closing.close()
  expect(ended).toEqual(['last', 'first'])
})

test('what is thrown is why the start failed, whatever cannot be ended then', async () => {
  const closing = new Closing()
  closing.add(() => Promise.reject(new Error('stuck')))
  await expect(closing.unlessStarted(() => Promise.reject(new Error('no start')))).rejects.toThrow('no start')
  expect(await new Closing().unlessStarted(() => Promise.resolve('started'))).toBe('started')
})
