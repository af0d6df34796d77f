/** Goal: what a running ledger owes is signed, adds up while value moves, and every holder can prove a share of it offline. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BASE_UNIT, parseQuantity } from '../../actors/money.ts'
import { loadMasterKey } from '../../infra/keys/master-key.ts'
import { type Holder, type HttpReply, LedgerClient, membersOf, send, textOf } from '../support/client.ts'
import type { Members, Value } from '../support/client-keys.ts'
import { accepted, ended, funded, issued, moved, outcomeOf, WAITING } from '../support/client-moves.ts'
import { type Finished, runLedger } from './start-harness.ts'
import { loadedRows } from '../support/loader/loaded-rows.ts'
import { resealBalance } from '../support/resealed-balance.ts'
import type { GetRunning } from './running.ts'

const TOKEN = 'OWED'

/** `ledger verify` on what a client has saved. */
export async function verifyOffline(client: LedgerClient, ...saved: readonly object[]): Promise<Finished> {
  const directory = mkdtempSync(join(tmpdir(), 'ledger-liabilities-'))
  try {
    const file = (name: string, text: string): string => {
      const path = join(directory, name)
      writeFileSync(path, text)
      return path
    }
    const { body: jwks } = await send(client.origin, { method: 'GET', path: '/.well-known/jwks.json' })
    const values = file('saved.ndjson', saved.map((value) => JSON.stringify(value)).join('\n'))
    return await runLedger(['verify', '--jwks', file('jwks.json', jwks), values])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

export function askLiabilities(client: LedgerClient, requester = 'an auditor'): Promise<HttpReply> {
  return client.post('/v1/assertions/proof-of-liabilities', { requester })
}

async function liabilitiesOf(client: LedgerClient): Promise<Members> {
  const reply = await askLiabilities(client)
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.body}`)
  return membersOf(reply)
}

/** A group in which one gives the other half a unit. */
async function settle(client: LedgerClient, one: Holder, other: Holder): Promise<void> {
  const sides = [
    { holder: one, type: 'debit' },
    { holder: other, type: 'credit' },
  ]
  const legs = sides.map(({ holder, type }) => ({
    account_id: holder.accountId,
    type,
    token_id: TOKEN,
    amount: '0.5',
  }))
  const { group_id: groupId = '', terms_hash: termsHash = '' } = membersOf(
    await client.post('/v1/settlement-groups', { legs }),
  )
  for (const { holder, type } of sides) {
    const leg = { type, token_id: TOKEN, amount: '0.5', group_id: groupId, terms_hash: termsHash }
    await accepted(client, holder, leg)
  }
  const group = await client.read(`/v1/settlement-groups/${String(groupId)}`, WAITING)
  if (group['status'] !== 'settled') throw new Error(`it does not settle: ${JSON.stringify(group)}`)
}

function totalOf(assertion: Members, tokenId: string): Value | undefined {
  const byToken = (assertion['result'] as Members)['by_token'] as readonly Members[]
  return byToken.find((one) => one['token_id'] === tokenId)?.['total']
}

export function liabilitiesSuite(running: GetRunning): void {
  describe('liabilities', () => {
    let issuer: Holder
    let holders: readonly Holder[] = []
    let viewer: LedgerClient
    let sql: postgres.Sql

    beforeAll(async () => {
      const { client, cluster } = running()
      viewer = await LedgerClient.login(cluster.origin, cluster.clients.viewer)
      sql = postgres(cluster.databaseUrl(), { max: 1, onnotice: () => undefined })
      issuer = await client.register('issuer@liabilities')
      await issued(client, TOKEN, issuer, '1000')
      holders = await Promise.all([1, 2, 3, 4].map((number) => client.register(`holder-${number}@liabilities`)))
      for (const { accountId } of holders) {
        await moved(client, issuer, { type: 'transfer', to_account_id: accountId, token_id: TOKEN, amount: '100' })
      }
    })

    afterAll(async () => {
      viewer.close()
      await sql.end()
    })

    test('D12: the total is that of all balances, signed, and valid at every edge', async () => {
      const { elsewhere } = running()
      const assertion = await liabilitiesOf(viewer)
      expect(totalOf(assertion, TOKEN)).toBe('1000')
      for (const client of [viewer, elsewhere]) {
        expect(membersOf(await client.post('/v1/assertions/verify', assertion))).toMatchObject({ valid: true })
      }
      const { code, out } = await verifyOffline(viewer, assertion)
      expect({ code, out }).toEqual({
        code: 0,
        out: expect.stringContaining('ok: proof-of-liabilities for "an auditor"'),
      })
    })

    test('I4: it adds up at every moment while transfers, groups, mints and burns are on their way', async () => {
      const { client, elsewhere } = running()
      const [one, two] = holders
      if (one === undefined || two === undefined) throw new Error('there are no holders')
      const moving = new AbortController()
      const again = async (move: () => Promise<unknown>): Promise<void> => {
        while (!moving.signal.aborted) await move()
      }
      const transfer = (from: Holder, to: Holder) =>
        again(async () => {
          const order = { type: 'transfer', to_account_id: to.accountId, token_id: TOKEN, amount: '0.01' }
          await ended(client, await accepted(client, from, order))
        })
      const minted = again(async () => {
        for (const type of ['mint', 'burn']) await moved(client, issuer, { type, token_id: TOKEN, amount: '1' })
      })
      const movers = [transfer(one, two), transfer(two, one), again(() => settle(client, one, two)), minted]
      const totals = new Set<unknown>()
      for (let look = 0; look < 6; look += 1) {
        totals.add(totalOf(await liabilitiesOf(look % 2 === 0 ? viewer : elsewhere), TOKEN))
      }
      moving.abort()
      await Promise.all(movers)
      expect(['1000', '1001']).toEqual(expect.arrayContaining([...totals]))
    })

    test('D12: what a leg of an open group holds, and what is reserved, is owed to the account it is of', async () => {
      const { client } = running()
      const [, , three] = holders
      if (three === undefined) throw new Error('there are no holders')
      const group = await client.post('/v1/settlement-groups', {
        legs: [
          { account_id: three.accountId, type: 'debit', token_id: TOKEN, amount: '30' },
          { account_id: issuer.accountId, type: 'credit', token_id: TOKEN, amount: '30' },
        ],
      })
      const { group_id: groupId = '', terms_hash: termsHash = '' } = membersOf(group)
      const leg = { type: 'debit', token_id: TOKEN, amount: '30', group_id: groupId, terms_hash: termsHash }
      await moved(client, three, leg)
      expect(await client.read(`/v1/accounts/${three.accountId}/balances/${TOKEN}`)).toMatchObject({ balance: '70' })
      const assertion = await liabilitiesOf(viewer)
      expect(totalOf(assertion, TOKEN)).toBe('1000')
      const proof = await viewer.read(`/v1/accounts/${three.accountId}/liability-proof`)
      const { code, out } = await verifyOffline(viewer, proof)
      expect({ code, out }).toEqual({
        code: 0,
        out: expect.stringContaining(`ok: ${three.accountId} is owed 100 ${TOKEN}`),
      })
    })

    test('D12: a proof with a changed balance, path or root is refused offline, and the account keeps its own', async () => {
      const fourth = holders[3]?.accountId ?? ''
      const { result } = await liabilitiesOf(viewer)
      const root = textOf(result as Members, 'merkle_root')
      const path = `/v1/accounts/${fourth}/liability-proof?merkle_root=${root}`
      const proof = (await viewer.read(path)) as Members & ProofMembers
      const good = await verifyOffline(viewer, proof)
      expect(good).toMatchObject({ code: 0, out: expect.stringContaining(`ok: ${fourth} is owed 100 ${TOKEN}`) })
      const [token] = proof.proofs
      const [share, ...others] = token?.shares ?? []
      if (token === undefined || share === undefined) throw new Error('the proof is empty')
      const withShare = (changed: object) => ({
        ...proof,
        proofs: [{ ...token, shares: [{ ...share, ...changed }, ...others] }],
      })
      const zeros = `sha256:${'00'.repeat(32)}`
      for (const wrong of [
        { ...proof, proofs: [{ ...token, amount: '101' }] },
        withShare({ amount: '100' }),
        withShare({ siblings: share.siblings.map((one) => ({ ...one, hash: zeros })) }),
        { ...proof, merkle_root: zeros },
        { ...proof, account_id: issuer.accountId },
      ]) {
        expect(await verifyOffline(viewer, wrong)).toMatchObject({ code: 1, out: expect.stringMatching(/^TAMPERED: /) })
      }
      expect(outcomeOf(await viewer.get(path.replace(root, zeros)))).toBe('404 ERR_NOT_FOUND')
      expect(outcomeOf(await viewer.get('/v1/accounts/unknown/liability-proof'))).toBe('404 ERR_NOT_FOUND')
    })

    test('D12: a balance that was changed in the database is not signed: 503, and 200 once it is as it was', async () => {
      const { client, cluster } = running()
      const victim = await funded(client, 'victim@liabilities', '5')
      const loaded = await loadedRows(sql, await loadMasterKey(join(cluster.dataDir, 'master.key')))
      const [account] = await loaded.accounts([victim.accountId])
      if (account === undefined) throw new Error('the victim is not there')
      // With the ledger's keys, and without them.
      const resealed = (balance: string) => resealBalance(sql, loaded.vault, account, BASE_UNIT, parseQuantity(balance))
      const bitTurned = () => sql`
        UPDATE balances SET document = set_bit(document, 240, 1 - get_bit(document, 240))
         WHERE account_id = ${loaded.vault.accountRef(victim.accountId)}`
      for (const [change, undo] of [
        [() => resealed('5.000000000000000001'), () => resealed('5')],
        [bitTurned, bitTurned],
      ] as const) {
        await liabilitiesOf(viewer)
        await change()
        try {
          const refused = await askLiabilities(viewer)
          expect(outcomeOf(refused)).toBe('503 ERR_DOWNSTREAM_FAILURE')
          expect(membersOf(refused)['outcome']).toBe(undefined)
          expect(membersOf(await client.get('/readyz'))['ready']).not.toBe(false)
        } finally {
          await undo()
        }
        expect((await askLiabilities(viewer)).status).toBe(200)
      }
    })

    test('D12: many who ask at once at two edges are all answered, each by name, and few runs are made', async () => {
      const { elsewhere } = running()
      const runs = async (): Promise<number> => {
        const [row] = await sql<{ runs: string }[]>`SELECT count(*) AS runs FROM liability_runs`
        return Number(row?.runs)
      }
      const before = await runs()
      const replies = await Promise.all(
        Array.from({ length: 16 }, (_, index) => askLiabilities(index % 2 === 0 ? viewer : elsewhere, `bank ${index}`)),
      )
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
      const requesters = replies.map((reply) => (membersOf(reply)['result'] as Members)['requester'])
      expect(requesters).toEqual(replies.map((_, index) => `bank ${index}`))
      expect((await runs()) - before).toBeLessThanOrEqual(4)
    })

    test('D12: a run whose backend is ended is 503 or made again, and the next one is not held up', async () => {
      const asking = askLiabilities(viewer)
      await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ledger:liabilities'`
      expect([200, 503]).toContain((await asking).status)
      expect((await askLiabilities(viewer)).status).toBe(200)
    })
  })
}

interface ProofMembers {
  readonly proofs: readonly {
    readonly token_id: string
    readonly amount: string
    readonly shares: readonly { readonly siblings: readonly { readonly hash: string; readonly sum: string }[] }[]
  }[]
}
