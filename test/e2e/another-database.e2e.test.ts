/** Goal: a node that meets another ledger than the one it serves ends, and is started anew; it never stays as a zombie. */
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Cluster, startCluster, until } from '../support/cluster-process.ts'

const DEADLINE_MS = 180_000
let cluster: Cluster
const lines: string[] = []

beforeAll(async () => {
  cluster = await startCluster({ nodes: 1, edges: 1, onLine: (line) => void lines.push(line) })
})
afterAll(() => cluster.stop())

test('N1: under another ledger the node ends with the reason in its log, and under the old one it serves again', async () => {
  const [before] = cluster.heads('node').map(({ pid }) => pid)
  const sql = postgres(cluster.databaseUrl(), { max: 1, onnotice: () => undefined })
  try {
    const [{ ledger_id: ledgerId } = { ledger_id: '' }] = await sql<{ ledger_id: string }[]>`
      SELECT ledger_id FROM ledger`
    await sql`UPDATE ledger SET ledger_id = 'another'`
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name LIKE 'ledger:%' AND pid <> pg_backend_pid()`
    await until('the node has ended', DEADLINE_MS, () => cluster.heads('node').every(({ pid }) => pid !== before))
    await sql`UPDATE ledger SET ledger_id = ${ledgerId}`
    await until('another node serves', DEADLINE_MS, cluster.isReady)
  } finally {
    await sql.end()
  }
  expect(cluster.heads('node').map(({ pid }) => pid)).not.toContain(before)
  const failed = lines.filter((line) => line.includes('error failed'))
  expect(failed.join('\n')).toContain('PostgreSQL holds ledger another')
})
