/** The embedded PostgreSQL uses the configured size of shared buffers, or a share of the memory of the machine. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { type PostgresOptions, startPostgres } from '../../../infra/embedded/postgres-server.ts'

const MIB = 1_048_576

/** Bytes that a new server has configured, and that it uses before it has read files. */
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

test('the default is a quarter of the memory, within bounds; an idle server uses little of it', async () => {
  const [, kilobytes = ''] = /^MemTotal:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? []
  // A limit of this process may be lower.
  const memory = Math.min(Number(kilobytes) * 1_024, process.constrainedMemory() || Infinity)
  const { set, taken } = await sharedBuffersOf({})
  const share = Math.min(8_192 * MIB, Math.max(128 * MIB, memory / 4))
  expect(set).toBeLessThanOrEqual(share)
  expect(set).toBeGreaterThan(share - MIB)
  expect(taken).toBeGreaterThan(0)
  expect(taken).toBeLessThan(set / 16 + 64 * MIB)
})

/** With `vm.overcommit_memory=1` the system refuses no size. */
const refuses = readFileSync('/proc/sys/vm/overcommit_memory', 'utf8').trim() !== '1'

test.runIf(refuses)(
  'the server uses the minimum if the system refuses the configured size, and logs this',
  async () => {
    const said: string[] = []
    const { set } = await sharedBuffersOf({ sharedBuffersMb: 4_000_000, log: (line) => said.push(line) })
    expect(set).toBe(128 * MIB)
    expect(said).toContain('the system refuses 4000000 MB of shared memory: PostgreSQL uses 128 MB')
  },
)
