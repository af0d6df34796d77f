/** Goal: a loaded ledger is one that the ledger itself could have written: it verifies, it adds up, and it goes on. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkOffline } from '../e2e/offline-check.ts'
import { type Holder, LedgerClient, membersOf } from '../support/client.ts'
import { accepted, moved } from '../support/client-moves.ts'
import type { Members } from '../support/client-keys.ts'
import { type Cluster, startCluster } from '../support/cluster-process.ts'
import { type FreshLedger, loadFreshLedger } from '../support/loader/fresh-ledger.ts'
import { loadLedger } from '../support/loader/ledger-load.ts'
import { accountIdOf, shapeOf } from '../support/loader/load-plan.ts'

const SHARDS = 16
const SHAPE = shapeOf({ accounts: 300, transactions: 4, keys: 3 })

let ledger: FreshLedger
/** Of what has been opened, the last first. */
const closings: (() => unknown)[] = []

async function closeAll(): Promise<void> {
  for (const close of closings.splice(0).reverse()) await close()
}

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'ledger-load-'))
  closings.push(() => rmSync(directory, { recursive: true, force: true }))
  ledger = await loadFreshLedger({ ...SHAPE, dataDir: directory, shards: SHARDS })
  closings.push(ledger.stop)
})
afterAll(closeAll)

function accountIds(): readonly string[] {
  return Array.from({ length: SHAPE.accounts }, (_, number) => accountIdOf(number))
}

describe('a ledger that goes on from a load', () => {
  let cluster: Cluster
  let client: LedgerClient

  beforeAll(async () => {
    const env = { LEDGER_DATABASE_URL: ledger.url, LEDGER_MASTER_KEY_FILE: ledger.masterKeyFile }
    cluster = await startCluster({ nodes: 1, edges: 1, env })
    closings.push(cluster.stop)
    client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
    closings.push(() => client.close())
  })

  function holder(number: number): Holder {
    const shared = ledger.keys[number % SHAPE.keys]
    if (shared === undefined) throw new Error(`there is no key of account ${number}`)
    return { accountId: accountIdOf(number), keys: shared.keys }
  }

  test('I6, I7: every chain and every receipt verifies offline, with the keys of the JWKS', async () => {
    const { code, out, err, txnIds } = await checkOffline(client, accountIds())
    expect(err).toBe('')
    expect(out).not.toContain('TAMPERED')
    expect(code).toBe(0)
    expect(out.split('\n').filter((line) => line.includes('chain of'))).toHaveLength(SHAPE.accounts)
    expect(txnIds).toHaveLength(ledger.sums.completed + ledger.sums.failed)
  })

  test('I4, I9: the ledger vouches for it: compliant, its liabilities those of the boundary', async () => {
    const proof = async (name: string): Promise<Members> => {
      const reply = await client.post(`/v1/assertions/proof-of-${name}`, { requester: 'a test' })
      if (reply.status !== 200) throw new Error(`${name}: ${reply.status} ${reply.body}`)
      return membersOf(reply)['result'] as Members
    }
    const { controls, compliant } = await proof('compliance')
    for (const control of controls as readonly Members[]) expect(control).toMatchObject({ passed: true, failed: 0 })
    expect((controls as readonly Members[]).length).toBeGreaterThan(3)
    expect(compliant).toBe(true)
    // It gives none unless every account has been added up, and the sum is what came over the boundary.
    expect((await proof('liabilities'))['total_liabilities']).not.toBe('0')
  })

  test('new orders are signed with the shared keys, and go on in the chains of their accounts', async () => {
    const [sender, receiver] = [holder(1), holder(100)]
    const before = await client.read(`/v1/accounts/${sender.accountId}`)
    await moved(client, sender, { type: 'credit', amount: '5' })
    await moved(client, sender, { type: 'transfer', amount: '5', to_account_id: receiver.accountId })
    await accepted(client, receiver, { type: 'credit', amount: '0.000000000000000001' })
    const after = await client.read(`/v1/accounts/${sender.accountId}`)
    expect(after['sequence']).toBe(Number(before['sequence']) + 2)
    const { code, out } = await checkOffline(client, [sender.accountId, receiver.accountId])
    expect(out).not.toContain('TAMPERED')
    expect(code).toBe(0)
  })

  test('L2: while it is being served, it takes no load', async () => {
    await expect(loadLedger({ ...SHAPE, url: ledger.url, masterKey: ledger.masterKey })).rejects.toThrow('being served')
  })
})
