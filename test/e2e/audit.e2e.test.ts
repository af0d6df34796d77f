/**
 * The assertions of provenance and compliance turn false when database rows are changed, and true again when the rows
 * are restored. The auditor finds the same changes, and continues after a kill. Real processes and threads.
 */
import { existsSync, readFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LedgerClient, type Holder } from '../support/client/client.ts'
import { classOf, mintedTo } from '../support/client/client-nfts.ts'
import { funded, moved } from '../support/client/client-moves.ts'
import type { Members } from '../support/client/client-keys.ts'
import { type Cluster, startCluster, until } from '../support/processes/cluster-process.ts'
import type { RowVault } from '../../infra/vault/row-vault.ts'
import { changeTransactions } from '../support/postgres/tampering-with-keys.ts'
import { vaultOfCluster } from '../support/cluster-vault.ts'

const DEADLINE_MS = 180_000

let cluster: Cluster
let client: LedgerClient
let sql: postgres.Sql
let vault: RowVault
let lines: string[]

beforeAll(async () => {
  lines = []
  cluster = await startCluster({ env: { LEDGER_AUDITOR_SHARE: '100' }, onLine: (line) => lines.push(line) })
  client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
  sql = postgres(cluster.databaseUrl(), { max: 2, onnotice: () => undefined })
  vault = await vaultOfCluster(cluster)
  const [alice, bob] = [await funded(client, 'alice@audit', '100'), await funded(client, 'bob@audit', '5')]
  await moved(client, alice, { type: 'transfer', amount: '40', to_account_id: bob.accountId })
  await nfts(alice, bob)
})

afterAll(async () => {
  client?.close()
  await sql?.end()
  await cluster?.stop()
})

async function nfts(alice: Holder, bob: Holder): Promise<void> {
  const classId = await classOf(client, 'Audited', alice)
  const nft = await mintedTo(client, alice, { class_id: classId, instance_id: 'one' }, bob)
  await moved(client, bob, { type: 'transfer', ...nft, to_account_id: alice.accountId })
}

/** Changes an amount with the ledger's keys. */
function sayOfTransfer(before: string, after: string): Promise<void> {
  return changeTransactions(({ transaction, receipt }) => {
    const isMeant = transaction.type === 'transfer' && transaction.amount === before
    return isMeant ? { transaction: { ...transaction, amount: after }, receipt } : undefined
  })({ url: cluster.databaseUrl(), sql, vault })
}

async function proved(what: 'provenance' | 'compliance'): Promise<Members> {
  const reply = await client.post(`/v1/assertions/proof-of-${what}`, { requester: 'a test' })
  if (reply.status !== 200) throw new Error(`proof-of-${what}: ${reply.status} ${reply.body}`)
  return (JSON.parse(reply.body) as { readonly result: Members }).result
}

/** The findings of a complete pass that began after the call. */
async function foundByAuditor(): Promise<readonly string[]> {
  const [now] = await sql<{ ms: number }[]>`SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms`
  const begun = Number(now?.ms)
  await until('the auditor has been through the ledger', DEADLINE_MS, async () => {
    const [row] = await sql<{ document: string }[]>`SELECT document FROM audit_progress`
    const { last } = JSON.parse(row?.document ?? '{"last":null}') as { readonly last: { beganAtMs: number } | null }
    return last !== null && last.beganAtMs > begun
  })
  const rows = await sql<{ subject: string }[]>`SELECT DISTINCT subject FROM audit_findings ORDER BY subject`
  return rows.map(({ subject }) => subject)
}

test('D12: an undamaged ledger is valid and compliant', async () => {
  expect(await proved('provenance')).toMatchObject({ assets_verified: 1, provenance_valid: true })
  const compliance = await proved('compliance')
  expect(compliance).toMatchObject({ compliant: true, frameworks: ['ledger-integrity-1'] })
  const controls = compliance['controls'] as readonly Members[]
  expect(controls.map(({ name, passed }) => `${String(name)} ${String(passed)}`)).toEqual([
    'chains_verify true',
    'value_is_conserved true',
    'receipts_verify true',
    'no_negative_balance true',
    'supply_reconciles true',
  ])
  expect(await foundByAuditor()).toEqual([])
})

test('the auditor runs at a lower priority than the processes that serve requests', () => {
  const [auditor] = cluster.heads('auditor')
  if (auditor === undefined) throw new Error('no auditor runs')
  const autogroup = `/proc/${auditor.pid}/autogroup`
  // Between sessions the kernel uses this value, where it exists.
  const ofSession = existsSync(autogroup) ? readFileSync(autogroup, 'utf8').trim() : 'nice 10'
  expect(getPriority(auditor.pid)).toBe(constants.priority.PRIORITY_BELOW_NORMAL)
  expect(ofSession).toMatch(/nice 10$/)
})

test('D12: changed rows turn provenance and compliance false, and the auditor names them', async () => {
  await sql`UPDATE actors SET owner = ${vault.accountRef('bob@audit')} WHERE kind = 'instance'`
  await sayOfTransfer('40', '41')
  expect(await proved('provenance')).toMatchObject({ assets_verified: 1, provenance_valid: false })
  const compliance = await proved('compliance')
  expect(compliance['compliant']).toBe(false)
  const failed = (compliance['controls'] as readonly Members[]).filter(({ passed }) => passed !== true)
  expect(failed.map(({ name }) => name)).toEqual(['chains_verify', 'receipts_verify'])
  expect(await foundByAuditor()).toEqual(['chains_verify', 'provenance', 'receipts_verify'])
  // A finding is durable before it is reported.
  await until('the log tells of it', DEADLINE_MS, () =>
    lines.some((line) => line.includes('auditor-1') && line.includes('audit_found')),
  )
  // An operator learns its kind, and no names.
  expect(lines.filter((line) => line.includes('audit_found') && line.includes('@audit'))).toEqual([])
  const [written] = await sql<{ places: string }[]>`SELECT json_agg(f)::text AS places FROM audit_findings f`
  expect(written?.places).not.toContain('@audit')
})

test('D12: the assertions are true again once the rows are restored, also after a kill of the auditor', async () => {
  await sql`UPDATE actors SET owner = ${vault.accountRef('alice@audit')} WHERE kind = 'instance'`
  await sayOfTransfer('41', '40')
  const [before] = cluster.heads('auditor')
  if (before === undefined) throw new Error('no auditor runs')
  process.kill(before.pid, 'SIGKILL')
  await until('another auditor runs', DEADLINE_MS, () => {
    const [now] = cluster.heads('auditor')
    return now !== undefined && now.pid !== before.pid
  })
  expect(await foundByAuditor()).toEqual([])
  expect(await proved('provenance')).toMatchObject({ provenance_valid: true })
  expect(await proved('compliance')).toMatchObject({ compliant: true })
})
