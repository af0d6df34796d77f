/** The log of a real ledger on PostgreSQL, judged by the client's verification. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkpointText } from '../../../api/client/log/checkpoint.ts'
import { logProofText, verifyLogProof } from '../../../api/client/log/log-proof.ts'
import { isConsistent } from '../../../api/client/log/merkle.ts'
import { noteKey, verifierKeyText } from '../../../api/client/log/signed-note.ts'
import { parsePolicy, type TrustPolicy } from '../../../api/client/log/trust-policy.ts'
import { placeOfEntry } from '../../../infra/log/entry-place.ts'
import { accountLogKey, EntrySalts, logEntry } from '../../../infra/log/log-entry.ts'
import { createLogStore, type PostgresLogStore } from '../../../infra/log/log-store-postgres.ts'
import { grow, leafHash, rootOf } from '../../../runtime/log/tree.ts'
import { LogSequencer, type TreeHead } from '../../../runtime/log/sequencer.ts'
import { TreeProofs } from '../../../runtime/log/tree-proofs.ts'
import { type AuditedLedger, createAuditedLedger, everythingOnce, Parties } from '../../support/audited-ledger.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'

const LOG_KEY = Buffer.alloc(32, 5)
const NO_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined }

let ledger: AuditedLedger
let store: PostgresLogStore
beforeAll(async () => {
  ledger = await createAuditedLedger()
  store = createLogStore({ url: ledger.url, logKey: LOG_KEY })
})
afterAll(async () => {
  await store.close()
  await ledger.close()
})

interface ChainRow {
  readonly account_id: string
  readonly sequence: string
  readonly audit_hash: Buffer
  readonly xid: string
}

function chainRows(): Promise<ChainRow[]> {
  return ledger.sql<ChainRow[]>`
    SELECT e.account_id, e.sequence, e.audit_hash, coalesce(c.commit_xid, e.commit_xid)::text AS xid
      FROM chain_entries e
      LEFT JOIN commits c ON e.txn_id = ANY (c.final || c.ended)`
}

/** Runs until every entry is in the log. */
async function sequenced(): Promise<readonly TreeHead[]> {
  const heads: TreeHead[] = []
  const clock = createManualClock(0)
  const sequencer = new LogSequencer({
    store,
    holder: 'test',
    clock,
    log: NO_LOG,
    onHead: (head) => void heads.push(head),
  })
  sequencer.start()
  const [row] = await ledger.sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM chain_entries`
  await until(async () => {
    await clock.pass(500)
    return (heads.at(-1)?.size ?? 0) >= (row?.count ?? 0)
  })
  await sequencer.stop()
  return heads
}

const proofsIn = (size: number): TreeProofs =>
  new TreeProofs(async (...tile) => (await store.hashes(...tile)) ?? Buffer.alloc(0), size)

async function signedHead({ size, root }: TreeHead) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  const key = await noteKey('ledger/test', 'log', new Uint8Array(Buffer.from(x, 'base64url')))
  const text = checkpointText({ origin: key.name, size, root: new Uint8Array(root) })
  const bytes = new Uint8Array(sign(null, Buffer.from(text), privateKey))
  const policy: TrustPolicy = await parsePolicy(`log ${verifierKeyText(key)}\nquorum none`)
  return { policy, note: { text, signatures: [{ name: key.name, keyId: key.id, bytes }] } }
}

test('every entry of every chain is in the log once, and is proved by its salt and hash alone', async () => {
  const parties = new Parties(ledger)
  await everythingOnce(parties, 'one')
  const [first] = await Promise.all([sequenced(), everythingOnce(parties, 'two')])
  const heads = [...first, ...(await sequenced())]
  const head = heads.at(-1)
  if (head === undefined) throw new Error('there is a head')
  const [rows, { policy, note }, proofs] = [await chainRows(), await signedHead(head), proofsIn(head.size)]
  expect(rows.length).toBe(head.size)
  const places = new Set<number>()
  for (const { account_id: ref, sequence, audit_hash: auditHash, xid } of rows) {
    const salt = new EntrySalts(accountLogKey(LOG_KEY, ref)).of(Number(sequence))
    const place = await placeOfEntry(ledger.sql, store, { entry: logEntry(salt, auditHash), xid })
    if (typeof place === 'string') throw new Error(`${ref} ${sequence} is ${place}`)
    places.add(place)
    const hashes = (await proofs.inclusion(place)).map((hash) => new Uint8Array(hash))
    const proof = logProofText({ salt: new Uint8Array(salt), index: place, hashes, checkpoint: note })
    expect(await verifyLogProof(proof, `sha256:${auditHash.toString('hex')}`, policy)).toMatchObject({ ok: true })
  }
  expect(places.size).toBe(rows.length)
  for (const { size, root } of heads) {
    const consistency = (await proofs.consistency(size)).map((hash) => new Uint8Array(hash))
    const [before, now] = [size, head.size]
    const isContinued = isConsistent(
      { size: before, root: new Uint8Array(root) },
      { size: now, root: new Uint8Array(head.root) },
      consistency,
    )
    expect([before, await isContinued]).toEqual([before, true])
  }
})

test('G1: of two appends to one head, one is stored, and the other changes nothing', async () => {
  await sequenced()
  const head = await store.head()
  const appends = ['left', 'right'].map((name) => {
    const entries = [Buffer.alloc(48, name)]
    const { edge, tiles } = grow(head.edge, Buffer.concat(entries.map(leafHash)))
    return { entries, edge, tiles, position: head.position }
  })
  const stored = await Promise.all(appends.map((batch) => store.append(head, batch)))
  expect(stored.filter(Boolean)).toEqual([true])
  const winner = appends[stored.indexOf(true)]
  if (winner === undefined) throw new Error('one is stored')
  expect(rootOf((await store.head()).edge)).toEqual(rootOf(winner.edge))
  expect(await proofsIn(winner.edge.size).root()).toEqual(rootOf(winner.edge))
})
