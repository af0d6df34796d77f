/** An export says where it stands in the log of its ledger, and `ledger verify --policy` checks it. */
import { expect, test } from 'vitest'
import { noteText, verifierKeyText } from '../../api/client/log/signed-note.ts'
import { parsePolicy } from '../../api/client/log/trust-policy.ts'
import { ExportLogCheck } from '../../infra/cli/verify/check-export-log.ts'
import { createNoteSigner, signedHead } from '../../infra/log/log-signer.ts'
import { keepLog } from '../support/log/kept-log.ts'
import { contentOf, EXPORTS_LOG_KEY, Received, withExportsLedger } from './exports-ledger.ts'

const signer = await createNoteSigner('ledger/test', 'log', Buffer.alloc(32, 1))
const POLICY = `log ${verifierKeyText(signer.key)}\nquorum none`

const ledger = withExportsLedger(async ({ url, sql }) => {
  const [row] = await sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM chain_entries`
  await keepLog(url, EXPORTS_LOG_KEY, async ({ heads, store, workUntil }) => {
    await workUntil(() => (heads.at(-1)?.size ?? 0) >= (row?.count ?? 0))
    const { size, root } = heads.at(-1) ?? { size: 0, root: Buffer.alloc(32) }
    await store.publish({ size, note: noteText(signedHead(signer, { size, root: new Uint8Array(root) })) })
  })
})

async function verdictOf(content: string, policy = POLICY) {
  const check = new ExportLogCheck(await parsePolicy(policy))
  for (const line of content.trimEnd().split('\n')) await check.take(line)
  return check.verdict()
}

function named(): Promise<string> {
  const { exports, told } = ledger()
  return contentOf(exports, { accountIds: [told.alice.accountId, told.bob.accountId] })
}

test('an export of named accounts proves the last entry of each', async () => {
  const content = await named()
  const received = await Received.of(ledger(), content)
  expect(received.account(ledger().told.alice.accountId).log_proof?.hashes.length).toBeGreaterThan(2)
  expect(await verdictOf(content)).toEqual({
    verdict: 'ok',
    detail: expect.stringMatching(
      /^the log ledger\/test of \d+ entries, signed by the log, has the last entries of 2 of 2 /,
    ),
  })
})

test('an export of all names the head, and one before the first head names none', async () => {
  const { exports, sql } = ledger()
  const all = await contentOf(exports)
  expect(all).not.toContain('log_proof')
  expect(await verdictOf(all)).toMatchObject({ verdict: 'ok', detail: expect.stringContaining('entries of 0 of ') })
  const [published] = await sql<{ size: string; note: string }[]>`DELETE FROM log_published RETURNING size, note`
  const before = await named()
  await sql`INSERT INTO log_published ${sql({ size: '', note: '', ...published })}`
  expect(before).not.toMatch(/log_head|log_proof/)
  expect(await verdictOf(before)).toEqual({ verdict: 'INCOMPLETE', detail: 'it names no head of the log' })
})

test('an entry that is not below the published head has no proof', async () => {
  const { parties, told } = ledger()
  await parties.submit(told.alice, { type: 'credit', amount: '1' })
  await parties.atRest()
  expect(await verdictOf(await named())).toMatchObject({ verdict: 'ok', detail: expect.stringContaining(' 1 of 2 ') })
})

test('a head that the policy does not trust, another entry, and a malformed proof are found', async () => {
  const content = await named()
  for (const [name, verdict] of [
    ['ledger/test', 'TAMPERED'],
    ['ledger/other', 'NOT CHECKED'],
  ] as const) {
    const { key } = await createNoteSigner(name, 'log', Buffer.alloc(32, 2))
    expect(await verdictOf(content, `log ${verifierKeyText(key)}\nquorum none`)).toMatchObject({ verdict })
  }
  const entry = content.replace(/("audit_hash":"sha256:)[0-9a-f]{4}/g, '$1eeee')
  expect(await verdictOf(entry)).toEqual({
    verdict: 'TAMPERED',
    detail: expect.stringMatching(/^account \S+: the log does not have the entry in place/),
  })
  const malformed = content.replace('"log_proof":{"hashes":[', '"log_proof":{"hashes":[7,')
  expect(await verdictOf(malformed)).toEqual({ verdict: 'TAMPERED', detail: 'its place in the log is malformed' })
})
