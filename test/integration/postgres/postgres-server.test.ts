/** Goal: the ledger's own PostgreSQL keeps as much of its files in memory as the machine has room for, or as much as it is told. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { type PostgresOptions, startPostgres } from '../../../infra/embedded/postgres-server.ts'

const MIB = 1_048_576

/** Of one that is started so, and what it takes of it before anything was read, bytes. */
async function sharedBuffersOf(options: Omit<PostgresOptions, 'dataDir'>): Promise<{ set: number; taken: number }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ledger-postgres-'))
  const server = await startPostgres({ dataDir, ...options })
  const sql = postgres(server.url, { max: 1, onnotice: () => undefined })
  try {
    const [row] = await sql<{ set: string }[]>`SELECT pg_size_bytes(current_setting('shared_buffers'))::text AS set`
    const [, kilobytes = ''] = /^RssShmem:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8')) ?? []
    return { set: Number(row?.set), taken: Number(kilobytes) * 1_024 }
  } finally {
    await sql.end()
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

test('a quarter of the memory that there is, within bounds, of which little is taken before it is needed', async () => {
  const [, kilobytes = ''] = /^MemTotal:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? []
  // A limit of this process's own may lower it.
  const memory = Math.min(Number(kilobytes) * 1_024, process.constrainedMemory() || Infinity)
  const { set, taken } = await sharedBuffersOf({})
  const share = Math.min(8_192 * MIB, Math.max(128 * MIB, memory / 4))
  expect(set).toBeLessThanOrEqual(share)
  expect(set).toBeGreaterThan(share - MIB)
  expect(taken).toBeGreaterThan(0)
  expect(taken).toBeLessThan(set / 16 + 64 * MIB)
})

/** `vm.overcommit_memory=1`: such a system refuses nothing, and would give what there is not. */
const refuses = readFileSync('/proc/sys/vm/overcommit_memory', 'utf8').trim() !== '1'

test.runIf(refuses)('the least where the system refuses what is said, and the log says so', async () => {
  const said: string[] = []
  const { set } = await sharedBuffersOf({ sharedBuffersMb: 4_000_000, log: (line) => said.push(line) })
  expect(set).toBe(128 * MIB)
  expect(said).toContain('the system refuses 4000000 MB of shared memory: PostgreSQL uses 128 MB')
})
