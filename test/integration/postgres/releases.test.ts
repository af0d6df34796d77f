/**
 * This program migrates and continues the ledger of each release in `test/releases`. The following writes that of the
 * current version: `LEDGER_WRITE_RELEASE=1 npm test -- test/integration/postgres/releases.test.ts`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import postgres from 'postgres'
import { actorKey } from '../../../actors/address.ts'
import { runSpotPass } from '../../../infra/audit/spot-pass.ts'
import { createShardHash } from '../../../infra/keys/shard-hash.ts'
import { createLedgerReads, type PostgresLedgerReads } from '../../../infra/postgres/reads/ledger-reads-postgres.ts'
import { migrate } from '../../../infra/postgres/migrations/migrate.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import { createAuditedLedger, everythingOnce, Parties, type Party } from '../../support/audited-ledger.ts'
import { DEFAULT_SHARD_COUNT, secretsOf } from '../../support/postgres/ledger-database.ts'
import { startLoneNode } from '../../support/lone-node.ts'
import { restoreRelease, writeRelease } from '../../support/postgres/release-dump.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const FOLDER = join(ROOT, 'test', 'releases')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string }
const CURRENT = `${version}.json.gz`
const shardOf = createShardHash(Buffer.alloc(32, 7), DEFAULT_SHARD_COUNT)

function readsOf(url: string, ledgerId: string, vault: RowVault): PostgresLedgerReads {
  return createLedgerReads({ url, ledgerId, shardOf, homeOf: (actor) => shardOf(actorKey(actor)), vault })
}

async function balancesOf(reads: PostgresLedgerReads, accountId: string): Promise<Record<string, string>> {
  const balances = (await reads.balances(accountId)) ?? []
  return Object.fromEntries(balances.map(({ tokenId, balance }) => [tokenId, balance]))
}

async function expectSound(url: string, ledgerId: string, vault: RowVault): Promise<void> {
  for (const kind of ['compliance', 'provenance'] as const) {
    const { checked, failed } = await runSpotPass({ url, ledgerId, kind }, vault)
    expect(Math.min(...Object.values(checked))).toBeGreaterThan(0)
    expect(Object.values(failed).filter((count) => count > 0)).toEqual([])
  }
}

if (process.env['LEDGER_WRITE_RELEASE'] === '1') {
  beforeAll(async () => {
    const headings = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split('\n')
    const isReleased = headings.some((line) => line.startsWith(`## [${version}] - `) && !line.endsWith('unreleased'))
    if (isReleased) throw new Error(`${version} is released: its ledger must stay as it is`)
    const ledger = await createAuditedLedger()
    const parties = new Parties(ledger)
    const { alice, bob } = await everythingOnce(parties, 'one')
    // A settlement group that waits a minute for its second leg.
    const agreed = await parties.agree([
      { account_id: alice.accountId, type: 'debit', amount: '1', token_id: 'BASE' },
      { account_id: bob.accountId, type: 'credit', amount: '1', token_id: 'BASE' },
    ])
    await parties.submit(alice, { type: 'debit', amount: '1', token_id: 'BASE', ...agreed })
    await parties.delivered()
    const reads = readsOf(ledger.url, ledger.ledgerId, ledger.vault)
    const told = async ({ accountId, keys }: Party) => {
      const key = keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
      return [accountId, { key, balances: await balancesOf(reads, accountId) }] as const
    }
    const accounts = Object.fromEntries([await told(alice), await told(bob)])
    await reads.close()
    await ledger.leave()
    await writeRelease(join(FOLDER, CURRENT), ledger.url, { ledgerId: ledger.ledgerId, accounts })
    await ledger.close()
  })
}

test('`test/releases` has a ledger of the current version', () => {
  expect(existsSync(join(FOLDER, CURRENT))).toBe(true)
})

describe.each(readdirSync(FOLDER))('%s', (name) => {
  test('the ledger is migrated, passes an audit, and executes orders', async () => {
    const { ledgerId, masterKeys, parties, database } = await restoreRelease(join(FOLDER, name))
    await migrate(database.url, { shardCount: DEFAULT_SHARD_COUNT, ledgerId, masterKeys })
    const { vault } = await secretsOf(database.url, masterKeys)
    const reads = readsOf(database.url, ledgerId, vault)
    const sql = postgres(database.url, { max: 1, onnotice: () => undefined })
    const closes = [() => reads.close(), () => sql.end(), () => database.drop()]
    try {
      await expectSound(database.url, ledgerId, vault)
      for (const { accountId, balances } of parties) expect(await balancesOf(reads, accountId)).toEqual(balances)

      const node = await startLoneNode(database.url, ledgerId, masterKeys)
      closes.unshift(() => node.close())
      const clients = new Parties({ node, sql })
      const [first, second] = parties
      if (first === undefined || second === undefined) throw new Error('each release has two accounts')
      const order = { type: 'transfer', amount: '0.25', to_account_id: second.accountId, idempotency_key: 'since then' }
      await clients.submit(first, order)
      await clients.atRest()
      // The settlement group has timed out, and its debit of 1 was released.
      const left = Number(first.balances['BASE']) + 1 - 0.25
      await vi.waitFor(
        async () => expect((await balancesOf(reads, first.accountId))['BASE']).toBe(String(left)),
        120_000,
      )
      await expectSound(database.url, ledgerId, vault)
    } finally {
      for (const close of closes) await close()
    }
  })
})
