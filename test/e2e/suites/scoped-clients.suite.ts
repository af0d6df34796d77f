/** D17: at every edge a client with an account scope has no access to other accounts. Each endpoint: `unit/api`. */
import postgres from 'postgres'
import { describe, expect, test } from 'vitest'
import { LedgerClient, textOf } from '../../support/client/client.ts'
import type { Members } from '../../support/client/client-keys.ts'
import { funded, keyed, moved, outcomeOf } from '../../support/client/client-moves.ts'
import type { GetRunning } from '../running.ts'
import { runLedger } from '../start-harness.ts'

const ACCOUNTS = 'ann@scoped,shop:scoped:*'

export function scopedClientsSuite(running: GetRunning): void {
  describe('a client scoped to accounts', () => {
    test('D17: can read and order for these accounts only, at every edge', async () => {
      const { client, elsewhere, cluster } = running()
      const [ann, shop] = [await funded(client, 'ann@scoped', '100'), await funded(client, 'shop:scoped:1', '100')]
      // One letter more, or fewer, than the accounts inside.
      const [bob, zoe] = [await funded(client, 'ann@scoped2', '100'), await funded(client, 'shop:scoped', '100')]
      const args = ['client', 'add', '--id', 'scoped', '--role', 'transactor', '--accounts', ACCOUNTS]
      const { code, out, err } = await runLedger(args, { LEDGER_DATA_DIR: cluster.dataDir })
      expect({ code, err }).toEqual({ code: 0, err: '' })
      const clientSecret = textOf(JSON.parse(out) as Members, 'client_secret')
      const scoped = await LedgerClient.login(cluster.origin, { clientId: 'scoped', clientSecret })
      const scopedElsewhere = scoped.at(elsewhere.origin)
      try {
        for (const edge of [scoped, scopedElsewhere]) {
          for (const { accountId } of [ann, shop]) {
            expect((await edge.get(`/v1/accounts/${accountId}/balances`)).status).toBe(200)
          }
          for (const holder of [bob, zoe]) {
            expect(outcomeOf(await edge.get(`/v1/accounts/${holder.accountId}/balances`))).toBe('404 ERR_NOT_FOUND')
            const order = keyed({ type: 'debit', amount: '1' })
            expect(outcomeOf(await edge.submit(holder, order))).toBe('404 ERR_NOT_FOUND')
          }
          await moved(edge, ann, { type: 'transfer', amount: '1', to_account_id: bob.accountId })
          const listed = await edge.readAll('/v1/transactions', 'transactions')
          expect(new Set(listed.map(({ account_id: id }) => id))).toEqual(new Set([ann.accountId, shop.accountId]))
        }
      } finally {
        scopedElsewhere.close()
        scoped.close()
      }
    })

    test('is listed with its accounts for the operator, and its accounts are in no row in plain text', async () => {
      const { cluster } = running()
      const { code, out } = await runLedger(['client', 'list', '--json'], { LEDGER_DATA_DIR: cluster.dataDir })
      expect(code).toBe(0)
      const listed = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Members)
      expect(listed.find(({ client_id: id }) => id === 'scoped')).toMatchObject({ accounts: ACCOUNTS.split(',') })
      expect(listed.find(({ client_id: id }) => id === cluster.clients.viewer.clientId)).toMatchObject({
        accounts: null,
      })
      const sql = postgres(cluster.databaseUrl(), { max: 1 })
      const rows = await sql<{ text: string }[]>`
        SELECT c::text || encode(document, 'escape') AS text FROM clients c WHERE client_id = 'scoped'`
      await sql.end()
      expect(rows).toEqual([{ text: expect.not.stringMatching(/ann@|shop:/) }])
    })

    test.for(['', '*', 'a b', 'a,,b'])('is refused with the invalid accounts %j', async (accounts) => {
      const { cluster } = running()
      const args = ['client', 'add', '--id', 'never', '--role', 'viewer', '--accounts', accounts]
      const { code, err } = await runLedger(args, { LEDGER_DATA_DIR: cluster.dataDir })
      expect(code).toBe(2)
      expect(err).toMatch(/--accounts.*It must be/)
    })
  })
}
