/** The entries of an erased account stay in the log, and nothing can prove them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountAddress } from '../../../actors/address.ts'
import { createServiceKeySeals } from '../../../infra/keys/service-key-seals.ts'
import { compareRows } from '../../../infra/log/compared-rows.ts'
import { createLedgerLog } from '../../../infra/log/ledger-log-postgres.ts'
import { createNoteSigner, signedHead } from '../../../infra/log/log-signer.ts'
import { main } from '../../../infra/main/ledger.ts'
import { createMissingServiceKeys } from '../../../infra/postgres/access/service-keys-postgres.ts'
import { noteText } from '../../../api/client/log/signed-note.ts'
import { type AuditedLedger, createAuditedLedger, Parties } from '../../support/audited-ledger.ts'
import { keepLog } from '../../support/log/kept-log.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { secretsOf, TEST_MASTER_KEY_TEXT, TEST_MASTER_KEYS } from '../../support/postgres/ledger-database.ts'
import { silentIo } from '../../unit/cli/silent-io.ts'

let ledger: AuditedLedger
let directory: string
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-erased-log-'))
  ledger = await createAuditedLedger()
})
afterAll(async () => {
  await ledger?.close()
  rmSync(directory, { recursive: true, force: true })
})

/** Extends the log by everything, publishes it, and asks for the proof of an account's first entry. */
async function logged(accountId: string) {
  const { url, sql } = ledger
  const { derive, vault } = await secretsOf(url)
  const [account] = await sql<{ shard_id: number }[]>`
    SELECT shard_id FROM accounts WHERE account_id = ${vault.accountRef(accountId)}`
  const logKey = derive('log-entries')
  const signer = await createNoteSigner('ledger/test', 'log', derive('log-heads'))
  return keepLog(url, logKey, async ({ store, heads, workUntil }) => {
    const [row] = await sql<{ count: number }[]>`
      SELECT ((SELECT count(*) FROM chain_entries) + (SELECT count(*) FROM log_statements)
              + (SELECT count(*) FROM administrative_entries))::integer AS count`
    await workUntil(() => (heads.at(-1)?.size ?? 0) >= (row?.count ?? 0))
    const { size, root } = heads.at(-1) ?? { size: 0, root: Buffer.alloc(32) }
    await store.publish({ size, note: noteText(signedHead(signer, { size, root: new Uint8Array(root) })) })
    const shardOf = () => account?.shard_id ?? 0
    const log = createLedgerLog({
      url,
      logKey,
      key: signer.key,
      vault,
      shardOf,
      clock: createManualClock(0),
      log: console,
    })
    const proof = await log.proof(accountId, 0)
    await log.close()
    return { size, proof: proof?.kind, compared: await compareRows(sql, 0n, logKey) }
  })
}

async function command(...args: readonly string[]) {
  let out = ''
  const env = { LEDGER_DATABASE_URL: ledger.url, LEDGER_MASTER_KEY: TEST_MASTER_KEY_TEXT }
  const code = await main(args, silentIo({ env, cwd: directory, out: (text) => (out += text) }))
  return { code, out }
}

test('an erased account keeps its entries, loses its proofs, and goes on to verify', async () => {
  const { url, node } = ledger
  const parties = new Parties(ledger)
  const gone = await parties.open('gone')
  await parties.submit(gone, { type: 'credit', amount: '3' })
  await parties.submit(gone, { type: 'debit', amount: '3' })
  await parties.atRest()
  const before = await logged('gone')
  expect(before.proof).toBe('proved')
  await createMissingServiceKeys({ url, seals: createServiceKeySeals(TEST_MASTER_KEYS) })
  expect(await command('checkpoint', 'saved')).toMatchObject({ code: 0 })
  const actor = accountAddress('gone')
  await node.ask(actor, { kind: 'change_status', status: 'closed', incoming: null, reason: 'a test' })
  await node.ask(actor, { kind: 'erase', reason: 'a test' })
  await parties.atRest()
  const after = await logged('gone')
  expect(after).toMatchObject({ proof: undefined, compared: { lacking: [], gone: [], entries: after.size } })
  expect(after.size).toBeGreaterThan(before.size + 1)
  expect(await command('verify', '--checkpoint', 'saved')).toMatchObject({
    code: 0,
    out: expect.stringContaining(`ok: log of ${after.size} entries, as the rows have them; 0 rows are newer`),
  })
})
