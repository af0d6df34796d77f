/**
 * The log of a real ledger on PostgreSQL, with two witnesses on the network that both must sign, and an operator who has every
 * key of the ledger. Alice's last entries are committed and not in the log yet.
 */
import { cpSync, mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { onTestFinished } from 'vitest'
import { verifierKeyText } from '../../../api/client/log/signed-note.ts'
import { parsePolicy, type TrustPolicy } from '../../../api/client/log/trust-policy.ts'
import { askWitness } from '../../../infra/log/ask-witness.ts'
import { createLedgerLog } from '../../../infra/log/ledger-log-postgres.ts'
import { accountLogKey } from '../../../infra/log/log-entry.ts'
import { LogPublisher } from '../../../infra/log/log-publisher.ts'
import { createNoteSigner, type NoteSigner } from '../../../infra/log/log-signer.ts'
import { createLogStore } from '../../../infra/log/log-store-postgres.ts'
import type { FindingKind } from '../../../infra/log/monitor/finding.ts'
import type { KnownEntry } from '../../../infra/log/monitor/judge-account.ts'
import { createLogReader, type GetFromLog, getOver } from '../../../infra/log/monitor/log-reader.ts'
import { monitorLog, type MonitorOptions } from '../../../infra/log/monitor/log-monitor.ts'
import { createMonitorFile } from '../../../infra/log/monitor/monitor-file.ts'
import { headOfWitness } from '../../../infra/log/monitor/other-heads.ts'
import { createWitnessApp } from '../../../infra/log/witness-app.ts'
import { openWitnessFile } from '../../../infra/log/witness-file.ts'
import { Witness } from '../../../infra/log/witness.ts'
import type { TreeHead } from '../../../runtime/log/sequencer.ts'
import { parseTilePath } from '../../../runtime/log/tile-paths.ts'
import { grow, leafHash, rootOf } from '../../../runtime/log/tree.ts'
import { createAuditedLedger, everythingOnce, Parties } from '../audited-ledger.ts'
import { createManualClock } from '../manual-clock.ts'
import { copyDatabase, type LedgerDatabase, vaultOf } from '../postgres/ledger-database.ts'
import { until } from '../postgres/ledger-store-postgres.ts'
import { keepLog } from './kept-log.ts'

export const LOG_KEY = Buffer.alloc(32, 5)
export const ALICE = 'alice-one'
const ORIGIN = 'example.com/ledger'
const NAMES = ['w1', 'w2'] as const
const LATE = 3
const HOUR_MS = 3_600_000

export interface AttackedLedger {
  readonly url: string
  /** Files of the witnesses. */
  readonly directory: string
  /** Every entry of alice, the last three included. */
  readonly known: readonly KnownEntry[]
  /** Entries of alice that are in the log. */
  readonly logged: number
  readonly signer: NoteSigner
  readonly close: () => Promise<void>
}

/** A time that the test moves. */
const time = { nowMs: 1_900_000_000_000 }

export function passHour(): void {
  time.nowMs += HOUR_MS
}

export async function createAttackedLedger(): Promise<AttackedLedger> {
  const ledger = await createAuditedLedger()
  const signer = await createNoteSigner(ORIGIN, 'log', Buffer.alloc(32, 1))
  const parties = new Parties(ledger)
  const { alice } = await everythingOnce(parties, 'one')
  const directory = mkdtempSync(join(tmpdir(), 'ledger-attacked-'))
  const witnesses = await startWitnesses(directory, signer)
  const store = createLogStore({ url: ledger.url, logKey: LOG_KEY })
  await published(store, await integrated(ledger.url, ledger.sql), { signer, ...witnesses })
  await Promise.all([store.close(), witnesses.close()])
  for (let count = 0; count < LATE; count += 1) await parties.submit(alice, { type: 'credit', amount: '1' })
  await parties.atRest()
  const ref = ledger.vault.accountRef(ALICE)
  const rows = await ledger.sql<{ sequence: string; audit_hash: Buffer }[]>`
    SELECT sequence, audit_hash FROM chain_entries WHERE account_id = ${ref} ORDER BY sequence`
  await ledger.leave()
  const known = rows.map(({ sequence, audit_hash: auditHash }) => {
    return { accountId: ALICE, sequence: Number(sequence), auditHash, atMs: 0 }
  })
  return { url: ledger.url, directory, known, logged: known.length - LATE, signer, close: ledger.close }
}

interface Witnesses {
  readonly policy: TrustPolicy
  readonly urls: readonly string[]
  readonly close: () => Promise<void>
}

/** Their files may be in the directory already. */
async function startWitnesses(directory: string, { key }: NoteSigner): Promise<Witnesses> {
  const started = await Promise.all(
    NAMES.map(async (name) => {
      const file = openWitnessFile(join(directory, name), `witness.example/${name}`)
      const signer = await createNoteSigner(file.name, 'witness', file.seed)
      const nowMs = (): number => time.nowMs
      const witness = new Witness({ signer, logs: [key], store: file, nowMs })
      const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
      const server = createServer(createWitnessApp({ witness, logs: [key], store: file, log, nowMs }))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const close = async (): Promise<void> => {
        const closed = new Promise((resolve) => server.close(resolve))
        server.closeAllConnections()
        await closed
        file.close()
      }
      return { url, line: `witness ${name} ${verifierKeyText(signer.key)} ${url}`, close }
    }),
  )
  const lines = [`log ${verifierKeyText(key)}`, ...started.map(({ line }) => line)]
  return {
    policy: await parsePolicy([...lines, `group both all ${NAMES.join(' ')}`, 'quorum both'].join('\n')),
    urls: started.map(({ url }) => url),
    close: async () => void (await Promise.all(started.map(({ close }) => close()))),
  }
}

/** Runs a sequencer until every entry is in the log. */
async function integrated(url: string, sql: postgres.Sql): Promise<TreeHead> {
  const [row] = await sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM chain_entries`
  return keepLog(url, LOG_KEY, async ({ heads, workUntil }) => {
    await workUntil(() => (heads.at(-1)?.size ?? 0) >= (row?.count ?? 0))
    const head = heads.at(-1)
    if (head === undefined) throw new Error('the log has no head')
    return head
  })
}

type Store = ReturnType<typeof createLogStore>

/** The names of the events of a publisher that tried to publish this head. */
async function published(
  store: Pick<Store, 'head' | 'hashes' | 'published' | 'publish'>,
  head: TreeHead,
  { signer, policy }: { readonly signer: NoteSigner; readonly policy: TrustPolicy | undefined },
): Promise<readonly string[]> {
  const events: string[] = []
  const note = (event: string): void => void events.push(event)
  const clock = createManualClock(time.nowMs)
  const log = { info: note, warn: note, error: note }
  const publisher = new LogPublisher({ store, signer, policy, ask: askWitness, clock, log })
  publisher.take(head)
  await until(() => publisher.measures().publishedSize >= head.size || events.includes('log_not_witnessed'))
  const stopped = publisher.stop()
  await clock.pass(1_000)
  await stopped
  return [...new Set(events)]
}

/** A copy of the ledger and of its witnesses, for one attack. */
export async function attackedCopy(ledger: Pick<AttackedLedger, 'url' | 'directory' | 'known' | 'signer'>) {
  const { known, signer } = ledger
  const directory = mkdtempSync(join(tmpdir(), 'ledger-attacked-'))
  cpSync(ledger.directory, directory, { recursive: true })
  const witnesses = await startWitnesses(directory, signer)
  const operator = await openCopy(ledger.url, signer)
  onTestFinished(witnesses.close)
  const monitors = mkdtempSync(join(tmpdir(), 'ledger-monitors-'))
  const account = { accountId: ALICE, key: accountLogKey(LOG_KEY, operator.aliceRef) }

  /** Kinds of the findings of the monitor of this name, which keeps a file. */
  async function monitor(
    name: string,
    { asksWitnesses = false, of = operator, ...options }: Attempt = {},
  ): Promise<readonly FindingKind[]> {
    const { findings } = await monitorLog({
      reader: createLogReader(options.get ?? of.get),
      policy: witnesses.policy,
      store: createMonitorFile(join(monitors, name)),
      accounts: [account],
      known: known.slice(0, -LATE),
      ahead: 100,
      maxAgeMs: undefined,
      isAnew: false,
      others: async () => (asksWitnesses ? headsOf(witnesses) : []),
      nowMs: () => time.nowMs,
      onProgress: () => undefined,
      ...options,
    })
    return [...new Set(findings.map(({ kind }) => kind))]
  }

  return {
    operator,
    witnesses,
    monitor,
    /** Another copy of the same database, such as an older one that is put back. */
    another: () => openCopy(ledger.url, signer),
    publish: (
      head: TreeHead,
      of = operator,
      store: Pick<Store, 'head' | 'hashes' | 'published' | 'publish'> = of.store,
      policy: TrustPolicy = witnesses.policy,
    ) => published(store, head, { signer, policy }),
    /** Without a request to the witnesses. */
    publishAlone: (head: TreeHead, of = operator) => published(of.store, head, { signer, policy: undefined }),
    /** The trust of a reader who demands no witness. */
    alone: { ...witnesses.policy, quorum: 'none' },
  }
}

type Operator = Awaited<ReturnType<typeof openCopy>>
interface Attempt extends Partial<MonitorOptions> {
  readonly asksWitnesses?: boolean
  readonly of?: Operator
  readonly get?: GetFromLog
}

async function headsOf({ urls }: Witnesses) {
  const notes = await Promise.all(urls.map((url) => headOfWitness(getOver(url), ORIGIN)))
  return notes.flatMap((note, index) => (note === undefined ? [] : [{ name: `witness ${index + 1}`, note }]))
}

async function openCopy(url: string, signer: NoteSigner) {
  const database: LedgerDatabase = await copyDatabase(url)
  const sql = postgres(database.url, { max: 2, onnotice: () => undefined })
  const store = createLogStore({ url: database.url, logKey: LOG_KEY })
  const vault = await vaultOf(database.url)
  const shards = new Map<string, number>()
  const rows = await sql<{ account_id: string; shard_id: number }[]>`SELECT account_id, shard_id FROM accounts`
  for (const { account_id: ref, shard_id: shardId } of rows) shards.set(ref, shardId)
  const shardOf = (accountId: string): number => shards.get(vault.accountRef(accountId)) ?? -1
  const errors: string[] = []
  let readMs = 0
  // Each read is a second after the one before: none gets a head that was kept.
  const clock = { monotonic: () => (readMs += 1_000) }
  const log = createLedgerLog({
    url: database.url,
    logKey: LOG_KEY,
    key: signer.key,
    vault,
    shardOf,
    clock,
    log: { error: (event) => void errors.push(event) },
  })
  onTestFinished(async () => {
    await Promise.all([log.close(), store.close(), sql.end()])
    await database.drop()
  })
  const get: GetFromLog = async (path) => {
    const address = parseTilePath(path.replace(/^tile\//, ''))
    const body = path === 'checkpoint' ? await log.checkpoint() : address && (await log.tile(address))
    return body === undefined ? { status: 404, body: Buffer.alloc(0) } : { status: 200, body: Buffer.from(body) }
  }
  return {
    url: database.url,
    sql,
    store,
    log,
    get,
    /** Names of the errors that the log reported. */
    errors,
    aliceRef: vault.accountRef(ALICE),
    integrate: () => integrated(database.url, sql),
    /** Adds any entries, as an operator can who has the database. */
    append: async (...entries: readonly Buffer[]): Promise<TreeHead> => {
      const head = await store.head()
      const { edge, tiles } = grow(head.edge, Buffer.concat(entries.map(leafHash)))
      await store.append(head, { entries, edge, tiles, position: head.position })
      return { size: edge.size, root: rootOf(edge) }
    },
  }
}
