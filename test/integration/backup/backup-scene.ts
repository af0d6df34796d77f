/** A ledger on a PostgreSQL of its own, which is backed up and restored by the commands. */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { type RecoveredServer, startRecovered } from '../../../infra/backup/recovery-server.ts'
import { startPostgres } from '../../../infra/embedded/postgres-server.ts'
import type { EmbeddedServer } from '../../../infra/embedded/server-process.ts'
import { unprivilegedUser } from '../../../infra/embedded/unprivileged-user.ts'
import { main } from '../../../infra/main/ledger.ts'
import { migrate, readLedgerAt } from '../../../infra/postgres/migrations/migrate.ts'
import { Parties, type Party } from '../../support/audited-ledger.ts'
import { Closing } from '../../support/closing.ts'
import { type LoneNode, startLoneNode } from '../../support/lone-node.ts'
import { DEFAULT_SHARD_COUNT, TEST_MASTER_KEY_TEXT, TEST_MASTER_KEYS } from '../../support/postgres/ledger-database.ts'
import { serverDirectory } from '../../support/processes/test-directory.ts'
import { silentIo } from '../../unit/cli/silent-io.ts'

export interface Ran {
  readonly code: number
  /** Both streams. */
  readonly text: string
}

/** A command that runs until it is stopped. */
export interface Running {
  /** So far. */
  readonly text: () => string
  readonly ended: Promise<Ran>
  readonly stop: () => Promise<Ran>
}

export class BackupScene {
  readonly directory: string
  readonly server: EmbeddedServer
  readonly node: LoneNode
  readonly sql: postgres.Sql
  readonly parties: Parties
  private readonly closing: Closing
  /** Variables of the commands. */
  readonly env: Record<string, string>

  private constructor(directory: string, server: EmbeddedServer, node: LoneNode, sql: postgres.Sql, closing: Closing) {
    this.directory = directory
    this.server = server
    this.node = node
    this.sql = sql
    this.parties = new Parties({ node, sql })
    this.closing = closing
    this.env = { LEDGER_DATABASE_URL: server.url, LEDGER_MASTER_KEY: TEST_MASTER_KEY_TEXT }
  }

  static async start(): Promise<BackupScene> {
    const closing = new Closing()
    return closing.unlessStarted(async () => {
      const directory = serverDirectory('ledger-backup-')
      closing.add(() => rmSync(directory, { recursive: true, force: true }))
      const server = await startPostgres({ dataDir: join(directory, 'postgres'), sharedBuffersMb: 128 })
      closing.add(() => server.stop())
      await migrate(server.url, { shardCount: DEFAULT_SHARD_COUNT, masterKeys: TEST_MASTER_KEYS })
      const ledger = await readLedgerAt(server.url)
      const node = await startLoneNode(server.url, ledger?.ledgerId ?? '')
      closing.add(() => node.close())
      const sql = postgres(server.url, { max: 2, onnotice: () => undefined })
      closing.add(() => sql.end())
      const scene = new BackupScene(directory, server, node, sql, closing)
      writeFileSync(join(directory, 'backup.pub'), (await scene.run('keygen', '--out', 'backup.pem')).text)
      return scene
    })
  }

  close(): Promise<void> {
    return this.closing.close()
  }

  path(...names: readonly string[]): string {
    return join(this.directory, ...names)
  }

  async run(...args: readonly string[]): Promise<Ran> {
    return this.begin(...args).ended
  }

  /** With other variables. */
  async runIn(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ran> {
    return this.beginIn(env, args).ended
  }

  /** Returns what the command printed. Throws if it fails. */
  async done(...args: readonly string[]): Promise<string> {
    const { code, text } = await this.run(...args)
    if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${text}`)
    return text
  }

  /** A command that ends by its signal, like a process by SIGTERM. */
  begin(...args: readonly string[]): Running {
    return this.beginIn(this.env, args)
  }

  private beginIn(env: Readonly<Record<string, string>>, args: readonly string[]): Running {
    let text = ''
    const signal = new AbortController()
    const add = (more: string): void => void (text += more)
    const io = silentIo({ env, cwd: this.directory, out: add, err: add, stopSignal: () => signal.signal })
    const ended = main(args, io).then((code) => ({ code, text }))
    return {
      text: () => text,
      ended,
      stop: () => {
        signal.abort(new Error('stopped'))
        return ended
      },
    }
  }

  backUp(name: string, ...options: readonly string[]): Promise<string> {
    return this.done('backup', name, '--recipient-key', 'backup.pub', ...options)
  }

  restoreTo(target: string, backup: string, ...options: readonly string[]): Promise<Ran> {
    return this.run('restore', backup, '--identity', 'backup.pem', '--to', target, ...options)
  }

  async credit(party: Party): Promise<string> {
    return this.parties.submit(party, { type: 'credit', amount: '1' })
  }

  /** A millisecond of PostgreSQL's clock after everything before the call, and before everything after it. */
  async now(): Promise<string> {
    const [at] = await this.sql<{ now: Date }[]>`SELECT clock_timestamp() + interval '1 ms' AS now`
    const now = at?.now.toISOString() ?? ''
    let isPast = false
    while (!isPast) {
      const [row] = await this.sql<{ past: boolean }[]>`SELECT clock_timestamp() > ${now}::timestamptz AS past`
      isPast = row?.past === true
    }
    return now
  }

  /** Calls `work` with a server on the data directory, which serves this process only. */
  async onRestored<T>(name: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    const server: RecoveredServer = await startRecovered({
      data: this.path(name),
      version: 170_000,
      superuser: 'ledger',
      database: 'ledger',
      user: unprivilegedUser(),
      untilMs: undefined,
      signal: new AbortController().signal,
      log: () => undefined,
    })
    const { username, hostname } = new URL(server.url)
    const sql = postgres({ host: decodeURIComponent(hostname), port: 5432, user: username, database: 'ledger', max: 1 })
    try {
      return await work(sql)
    } finally {
      await sql.end()
      await server.stop()
    }
  }

  /** IDs of the orders in a restored directory. */
  async ordersIn(name: string): Promise<ReadonlySet<string>> {
    return this.onRestored(name, async (sql) => {
      const rows = await sql<{ txn_id: string }[]>`SELECT txn_id FROM all_transactions`
      return new Set(rows.map(({ txn_id: txnId }) => txnId))
    })
  }

  /** Paths below a directory of backups, without folders. */
  filesIn(backup: string, ...folder: readonly string[]): readonly string[] {
    const path = this.path(backup, ...folder)
    if (!existsSync(path)) return []
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
  }
}
