/**
 * The master key is rotated under load. Client secrets, tokens, page tokens, receipts and chains stay valid. Afterwards
 * the new key suffices, and the old key alone is refused. Real processes with part keys.
 */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readMasterKey } from '../../infra/keys/master-key.ts'
import { partKeyText } from '../../infra/keys/part-key.ts'
import type { Part } from '../../infra/keys/wrapping-keys.ts'
import { LedgerClient, membersOf, send, textOf } from '../support/client/client.ts'
import type { Members } from '../support/client/client-keys.ts'
import { until } from '../support/processes/cluster-process.ts'
import { Trial } from './many-nodes/trial.ts'

const NODES = ['node-1'] as const
const EDGES = ['edge-1', 'edge-2'] as const
const SERVED_WITHIN_MS = 180_000
const REFUSED = 'is not the one that seals the secrets of this ledger'

const [OLD, NEW] = [newKey(), newKey()]
const BOTH = { LEDGER_MASTER_KEY: NEW, LEDGER_PREVIOUS_MASTER_KEY: OLD }
const NEW_ALONE = { LEDGER_MASTER_KEY: NEW, LEDGER_PREVIOUS_MASTER_KEY: '' }
const OLD_ALONE = { LEDGER_MASTER_KEY: OLD, LEDGER_PREVIOUS_MASTER_KEY: '' }

let trial: Trial
/** Documents and tokens from before the rotation. */
let held: {
  readonly refreshToken: string
  readonly pageToken: string
  readonly receipt: Members
  readonly txnId: string
}

beforeAll(async () => {
  trial = await Trial.start({ nodes: 1, edges: 2, shards: 8, natsServers: 1, env: { LEDGER_MASTER_KEY: OLD } })
  const client = await login()
  const page = await firstPage(client)
  const { clientId, clientSecret } = trial.cluster.client
  const txnId = textOf(page.transaction, 'txn_id')
  held = {
    refreshToken: textOf(await token({ client_id: clientId, client_secret: clientSecret }), 'refresh_token'),
    pageToken: page.pageToken,
    receipt: await client.read(`/v1/transactions/${txnId}/receipt`),
    txnId,
  }
  client.close()
})
afterAll(async () => {
  process.stdout.write(trial.table())
  await trial.close()
})

function newKey(): string {
  return randomBytes(32).toString('base64url')
}

function login(edge = 0): Promise<LedgerClient> {
  return LedgerClient.login(trial.cluster.origins[edge] ?? '', trial.cluster.client)
}

/** A page of transactions that is not the last. */
async function firstPage(client: LedgerClient): Promise<{ readonly transaction: Members; readonly pageToken: string }> {
  let found: { readonly transaction: Members; readonly pageToken: string } | undefined
  await until('there are completed transactions', SERVED_WITHIN_MS, async () => {
    const page = await client.read('/v1/transactions?status=completed&page_size=1')
    const [transaction] = page['transactions'] as readonly Members[]
    const pageToken = textOf(page, 'next_page_token')
    if (transaction !== undefined && pageToken !== '') found = { transaction, pageToken }
    return found !== undefined
  })
  if (found === undefined) throw new Error('there are none')
  return found
}

async function token(body: Members): Promise<Members> {
  const reply = await send(trial.cluster.origins[0] ?? '', {
    method: 'POST',
    path: '/v1/auth/token',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(reply.status, reply.body).toBe(200)
  return membersOf(reply)
}

type MasterKeyTexts = Readonly<Record<'LEDGER_MASTER_KEY' | 'LEDGER_PREVIOUS_MASTER_KEY', string>>

/** The environment of a part: the part key of these master keys. */
function partEnvironment(part: Part, texts: MasterKeyTexts): Readonly<Record<string, string>> {
  const { LEDGER_MASTER_KEY: current, LEDGER_PREVIOUS_MASTER_KEY: previous } = texts
  const ring = { current: readMasterKey(current), previous: previous === '' ? [] : [readMasterKey(previous)] }
  return { LEDGER_MASTER_KEY: '', LEDGER_PART_KEY: partKeyText(ring, part) }
}

/** Restarts one part at a time, and waits until it is ready. */
async function restartAll(texts: MasterKeyTexts): Promise<void> {
  for (const name of NODES) {
    await trial.end(name)
    await trial.cluster.startNode(name, partEnvironment('node', texts))
    await trial.sharedBy(...NODES)
  }
  for (const [index, name] of EDGES.entries()) {
    await trial.end(name)
    await trial.cluster.startEdge(name, partEnvironment('edge', texts))
    const origin = trial.cluster.origins[index] ?? ''
    await until(`${name} is ready`, SERVED_WITHIN_MS, async () => {
      const [reply] = await Promise.allSettled([send(origin, { method: 'GET', path: '/readyz' })])
      return reply.status === 'fulfilled' && reply.value.status === 200
    })
  }
}

test('parts restart with part keys of both master keys, and report the rotation as due', async () => {
  await trial.harmed('a restart with both keys', () => restartAll(BOTH))
  const check = trial.cluster.administer(['keys', 'rotate-master', '--check'], BOTH)
  await expect(check).rejects.toThrow('ended with 1')
})

test('the master key is rotated under load, while accounts are opened', async () => {
  const client = await login()
  const rotated = new AbortController()
  const opening = (async () => {
    for (let serial = 0; !rotated.signal.aborted; serial += 1) await client.register(`opened-${serial}@meanwhile`)
  })()
  await trial.harmed('a rotation', async () => {
    const said = await trial.cluster.administer(['keys', 'rotate-master'], BOTH)
    const { rotated: counts } = JSON.parse(said) as { readonly rotated: Readonly<Record<string, number>> }
    expect(counts).toMatchObject({ root_secret: 1, index_secret: 1, shard_secret: 1 })
    expect(counts['data_keys']).toBeGreaterThan(8)
    expect(said).not.toContain(OLD)
    expect(said).not.toContain(NEW)
  })
  rotated.abort()
  await opening
  client.close()
  const { left } = JSON.parse(await trial.cluster.administer(['keys', 'rotate-master', '--check'], NEW_ALONE)) as {
    readonly left: Readonly<Record<string, number>>
  }
  expect(Object.values(left).every((count) => count === 0)).toBe(true)
})

test('secrets, tokens, receipts and chains stay valid with the new key alone', async () => {
  await trial.harmed('a restart with the new key alone', () => restartAll(NEW_ALONE))
  const client = await login(1)
  expect(await client.read(`/v1/transactions/${held.txnId}/receipt`)).toEqual(held.receipt)
  const next = await client.read(
    `/v1/transactions?status=completed&page_size=1&page_token=${encodeURIComponent(held.pageToken)}`,
  )
  expect(next['transactions']).toHaveLength(1)
  const refreshed = await token({ grant_type: 'refresh_token', refresh_token: held.refreshToken })
  expect(textOf(refreshed, 'access_token')).not.toBe('')
  client.close()
})

test('the old key alone is refused, by parts and by commands, and no output shows a key', async () => {
  for (const part of [
    await trial.cluster.startNode('node-9', partEnvironment('node', OLD_ALONE)),
    await trial.cluster.startAuditor('auditor-9', partEnvironment('auditor', OLD_ALONE)),
  ]) {
    await part.exited
    expect(part.lastLines()).toContain(REFUSED)
  }
  for (const args of [
    ['client', 'add', '--id', 'late', '--role', 'viewer'],
    ['keys', 'rotate', '--purpose', 'token'],
  ]) {
    await expect(trial.cluster.administer(args, OLD_ALONE)).rejects.toThrow(REFUSED)
  }
  await expect(trial.cluster.administer(['keys', 'rotate-master'], OLD_ALONE)).rejects.toThrow(
    'LEDGER_PREVIOUS_MASTER_KEY',
  )
  for (const part of trial.cluster.parts.values()) {
    for (const key of [OLD, NEW, 'lpk1.']) expect(part.lastLines()).not.toContain(key)
  }
})

test('I2, I3, I4: the ledger has every acknowledged order once, with a valid chain and receipt', async () => {
  expect(await trial.faults()).toEqual([])
})
