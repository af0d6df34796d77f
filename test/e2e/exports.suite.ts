/** Goal: D20 on a ledger that runs: what it exports, whatever it went through before, is whole, and is what it shows. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ExportRecord } from '../../api/export-record.ts'
import { decryptBalance } from '../../infra/portability/balance-jwe.ts'
import { type Holder, LedgerClient, membersOf, send } from '../support/client.ts'
import type { Members } from '../support/client-keys.ts'
import { changeStatus, funded, outcomeOf } from '../support/client-moves.ts'
import type { GetRunning } from './running.ts'
import { type Finished, runLedger } from './start-harness.ts'

const AUDIENCE = '0b8b7c62-5a0c-4f0e-9c3f-6d2b1a7e4c55'

export function exportsSuite(running: GetRunning): void {
  describe('exports', () => {
    let directory = ''
    let admin: LedgerClient
    let privateKey: KeyObject
    let publicKey: Members

    beforeAll(async () => {
      const { cluster } = running()
      directory = mkdtempSync(join(tmpdir(), 'ledger-exports-'))
      admin = await LedgerClient.login(cluster.origin, cluster.clients.admin)
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      privateKey = pair.privateKey
      publicKey = pair.publicKey.export({ format: 'jwk' }) as Members
      writeFileSync(join(directory, 'secret'), `${cluster.clients.admin.clientSecret}\n`)
      writeFileSync(join(directory, 'recipient.json'), JSON.stringify({ ledger_id: AUDIENCE, public_key: publicKey }))
      const { body } = await send(cluster.origin, { method: 'GET', path: '/.well-known/jwks.json' })
      writeFileSync(join(directory, 'jwks.json'), body)
    })
    afterAll(() => {
      admin.close()
      rmSync(directory, { recursive: true, force: true })
    })

    const exported = (name: string, ...what: readonly string[]): Promise<Finished> => {
      const { cluster } = running()
      const who = ['--client', cluster.clients.admin.clientId, '--secret-file', join(directory, 'secret')]
      const whom = ['--recipient-key', join(directory, 'recipient.json'), '--requester', 'Example Operations Ltd']
      const args = ['export', '--url', cluster.origin, ...who, ...whom, '--out', join(directory, name)]
      return runLedger([...args, ...what])
    }
    const recordsOf = (name: string): readonly ExportRecord[] =>
      readFileSync(join(directory, name), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as ExportRecord)
    const balancesIn = (records: readonly ExportRecord[], accountId: string): Members => {
      const account = records.find((record) => record.record === 'account' && record.account_id === accountId)
      if (account?.record !== 'account') throw new Error(`${accountId} is not there`)
      return Object.fromEntries(
        account.balances.map(({ token_id: tokenId, encrypted_balance: jwe }) => [
          tokenId,
          decryptBalance(() => privateKey, { accountId, tokenId }, jwe) ?? 'does not open',
        ]),
      )
    }
    const shownBalances = async ({ accountId }: Holder): Promise<Members> => {
      const rows = await admin.readAll(`/v1/accounts/${accountId}/balances`, 'balances')
      return Object.fromEntries(rows.map((row) => [String(row['token_id']), String(row['balance'])]))
    }

    test('of all that happened before are whole, and verify offline', async () => {
      const ran = await exported('all.ndjson', '--all')
      expect(ran).toMatchObject({ code: 0, err: '' })
      const records = recordsOf('all.ndjson')
      const { total_count: accounts } = await admin.read('/v1/accounts?page_size=1')
      const { total_count: tokens } = await admin.read('/v1/fungible-tokens?page_size=1')
      const count = (kind: string): number => records.filter(({ record }) => record === kind).length
      expect([count('account'), count('token')]).toEqual([accounts, tokens])
      expect(count('account')).toBeGreaterThan(20)
      const verified = await runLedger([
        'verify',
        '--jwks',
        join(directory, 'jwks.json'),
        join(directory, 'all.ndjson'),
      ])
      expect(verified).toMatchObject({ code: 0, out: ran.out })
    })

    test('of a move leave an account that is empty and closed, and can be made again', async () => {
      const { client } = running()
      const holder = await funded(client, 'leaves-for-good', '31.25')
      const refused = await exported('early.ndjson', 'leaves-for-good', '--move')
      expect(refused.code).toBe(1)
      expect(refused.err).toContain('Account leaves-for-good cannot be moved: it is active, and must be frozen.')
      expect(await shownBalances(holder)).toMatchObject({ BASE: '31.25' })
      expect((await changeStatus(admin, holder, { status: 'frozen', reason: 'it moves' })).status).toBe(200)
      for (const name of ['first.ndjson', 'second.ndjson']) {
        expect(await exported(name, 'leaves-for-good', '--move')).toMatchObject({ code: 0 })
        expect(balancesIn(recordsOf(name), 'leaves-for-good')).toEqual({ BASE: '31.25' })
      }
      expect(await shownBalances(holder)).toMatchObject({ BASE: '0' })
      expect(await admin.read('/v1/accounts/leaves-for-good')).toMatchObject({ status: 'closed' })
    })

    test('are for administrators', async () => {
      const { client } = running()
      const body = { requester: 'me', all: true, audience: AUDIENCE, recipient_public_key: publicKey }
      expect(outcomeOf(await client.post('/v1/exports', body))).toBe('403 ERR_FORBIDDEN')
    })

    test('of what is not there are refused, and say which', async () => {
      const body = {
        requester: 'me',
        account_ids: ['nobody-at-all'],
        audience: AUDIENCE,
        recipient_public_key: publicKey,
      }
      const reply = await admin.post('/v1/exports', body)
      expect(outcomeOf(reply)).toBe('404 ERR_NOT_FOUND')
      expect(membersOf(reply)['errors']).toEqual([{ field: 'account_ids[0]', message: 'There is no such account.' }])
    })
  })
}
