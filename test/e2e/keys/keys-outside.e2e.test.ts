/**
 * The master key and the key for receipts are in an HSM (SoftHSM), which the ledger reaches by its key program. A client has a
 * key in place of a secret. Real processes.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AccountKey, generateKey, LedgerClient, verifyReceipt } from '../../../api/client/index.ts'
import { type SoftHsm, startSoftHsm } from '../../support/keys/soft-hsm.ts'
import { type ClusterParts, type Part, startParts } from '../../support/processes/cluster-parts.ts'

const INSIDE = randomBytes(32).toString('base64url')
const AFTER_S = 10

let directory: string
let hsm: SoftHsm
let cluster: ClusterParts
let node: Part
let ledger: LedgerClient
let key: AccountKey
let credits = 0

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-keys-'))
  hsm = await startSoftHsm()
  for (const label of ['master-1', 'master-2']) await hsm.create(label, 'mac')
  for (const label of ['receipts-1', 'receipts-2']) await hsm.create(label, 'sign')
  const env = { ...hsm.env, LEDGER_MASTER_KEY: outside('master-1'), LEDGER_KEY_COMMAND: hsm.command }
  cluster = await startParts({ nodes: 1, edges: 1, shards: 4, natsServers: 1, env })
  node = partNamed('node-1')
  ledger = new LedgerClient({ url: cluster.origins[0] ?? '', credentials: cluster.client })
  key = await generateKey()
  await ledger.registerAccount('alice', key)
})
afterAll(async () => {
  await cluster.close()
  hsm.remove()
  rmSync(directory, { recursive: true })
})

function outside(label: string): string {
  return `outside:${hsm.reference(label)}`
}

function partNamed(name: string): Part {
  const part = cluster.parts.get(name)
  if (part === undefined) throw new Error(`there is no ${name}`)
  return part
}

/** Returns the key ID of the verified receipt. */
async function order(): Promise<string> {
  credits += 1
  const fields = { account_id: 'alice', type: 'credit', amount: '1', idempotency_key: `credit-${credits}` } as const
  const { txn_id: txnId, status } = await ledger.submitAndWait(fields, key)
  expect(status).toBe('completed')
  const receipt = await ledger.call('getReceipt', { path: { txnId } })
  expect(await verifyReceipt(receipt, await ledger.keySet())).toMatchObject({ ok: true })
  return receipt.receipt.key_id
}

async function rotateReceiptKey(...more: readonly string[]): Promise<string> {
  const args = ['keys', 'rotate', '--purpose', 'receipt', '--after', String(AFTER_S), ...more]
  return (JSON.parse(await cluster.administer(args)) as { readonly kid: string }).kid
}

/** The processes of the key program of a process. */
function keyPrograms(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return children.filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('pkcs11'))
}

function linesWith(event: string): number {
  return node.lastLines().split(`"event":"${event}"`).length - 1
}

test('a ledger whose master key is in the HSM serves orders', async () => {
  expect(await order()).not.toBe('')
})

test('a client with a key signs in, and a stranger with another key does not', async () => {
  const own = await generateKey()
  const file = join(directory, 'shop.jwk')
  writeFileSync(file, JSON.stringify(own.publicKey))
  const added = await cluster.administer(['client', 'add', '--id', 'shop', '--role', 'viewer', '--public-key', file])
  expect(JSON.parse(added)).toEqual({ client_id: 'shop', key_id: own.keyId, role: 'viewer' })
  const { ledger_id: ledgerId } = await ledger.keySet()
  const url = cluster.origins[0] ?? ''
  const shop = new LedgerClient({ url, ledgerId, credentials: { clientId: 'shop', clientKey: own } })
  await shop.login()
  expect((await shop.call('getAccount', { path: { accountId: 'alice' } })).account_id).toBe('alice')
  const stranger = { clientId: 'shop', clientKey: await generateKey() }
  await expect(new LedgerClient({ url, ledgerId, credentials: stranger }).login()).rejects.toMatchObject({
    status: 401,
  })
})

test('after a rotation to a key in the HSM, receipts verify under its published key', async () => {
  const kid = await rotateReceiptKey('--outside', hsm.reference('receipts-1'))
  await expect.poll(order).toBe(kid)
})

test('a key program that is killed is started again, and no order fails', async () => {
  for (const program of keyPrograms(node.pid)) process.kill(program, 'SIGKILL')
  expect(await order()).not.toBe('')
  expect(linesWith('key_program_failed')).toBe(0)
})

test('while the HSM is gone no order is applied, and one line tells of it; afterwards orders go on', async () => {
  hsm.unplug()
  const impatient = new LedgerClient({
    url: cluster.origins[0] ?? '',
    credentials: cluster.client,
    retry: { attempts: 1 },
  })
  const refused = { account_id: 'alice', type: 'credit', amount: '1', idempotency_key: 'refused' } as const
  await expect(impatient.submitAndWait(refused, key)).rejects.toMatchObject({ status: 503 })
  await expect.poll(() => linesWith('key_program_failed')).toBe(1)
  hsm.plug()
  await expect.poll(() => linesWith('key_program_recovered')).toBe(1)
  expect(await order()).not.toBe('')
})

test('a key program that hangs is ended and started again', async () => {
  for (const program of keyPrograms(node.pid)) process.kill(program, 'SIGSTOP')
  expect(await order()).not.toBe('')
  await expect.poll(() => linesWith('key_program_recovered')).toBe(2)
})

test('the receipt key is replaced by another one in the HSM, and by one inside', async () => {
  const kid = await rotateReceiptKey('--outside', hsm.reference('receipts-2'))
  await expect.poll(order).toBe(kid)
  const inside = await rotateReceiptKey()
  await expect.poll(order).toBe(inside)
})

test('the master key moves from the HSM to a file, back, and to another key of the HSM', async () => {
  for (const name of ['node-1', 'edge-1']) {
    partNamed(name).signal('SIGTERM')
    await partNamed(name).exited
  }
  const keys = [outside('master-1'), INSIDE, outside('master-1'), outside('master-2')]
  for (const [index, previous] of keys.slice(0, -1).entries()) {
    const env = { LEDGER_MASTER_KEY: keys[index + 1] ?? '', LEDGER_PREVIOUS_MASTER_KEY: previous }
    await cluster.administer(['keys', 'rotate-master'], env)
    const alone = { LEDGER_MASTER_KEY: keys[index + 1] ?? '' }
    const { left } = JSON.parse(await cluster.administer(['keys', 'rotate-master', '--check'], alone)) as {
      readonly left: Readonly<Record<string, number>>
    }
    expect(new Set(Object.values(left))).toEqual(new Set([0]))
  }
})

test('parts run with part keys of the master key in the HSM, without a key program', async () => {
  for (const part of ['node', 'edge'] as const) {
    const master = { LEDGER_MASTER_KEY: outside('master-2') }
    const partKey = await cluster.administer(['keys', 'part-key', '--part', part], master)
    const env = { LEDGER_MASTER_KEY: '', LEDGER_KEY_COMMAND: '', LEDGER_PART_KEY: partKey }
    await (part === 'node' ? cluster.startNode('node-1', env) : cluster.startEdge('edge-1', env))
  }
  await expect.poll(() => order().catch(String)).toMatch(/^[\w-]{43}$/)
})

test('no part shows the PIN or a reference of a key', () => {
  const lines = [...cluster.parts.values()].map((part) => part.lastLines()).join('\n')
  expect(lines).toContain('node_started')
  for (const secret of ['271828', 'pkcs11:', INSIDE]) expect(lines).not.toContain(secret)
})
