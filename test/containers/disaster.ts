/** The backup of a deployment by backup.yaml, the loss of PostgreSQL's disk, and the restore that infra/deploy describes. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot, until } from '../support/processes/cluster-process.ts'
import { type Deployment, EDGES, NODES } from './deployment.ts'
import { engine, engineWithInput, succeed } from './engine.ts'

/** In the volume of backups. */
const BACKUPS = '/data/backups'
const RESTORED = '/data/restored'
const DEADLINE_MS = 180_000
const PSQL = 'PGPASSWORD=$(cat /run/secrets/ledger_backup.password) psql -h 127.0.0.1 -U ledger_backup -d ledger -Atc'

export class Disaster {
  private readonly deployment: Deployment
  private readonly image: string
  private readonly identity: string

  constructor(deployment: Deployment, image: string) {
    this.deployment = deployment
    this.image = image
    this.identity = join(deployment.directory, 'backup.pem')
  }

  /** Resolves once there is a base backup. */
  async startBackup(): Promise<void> {
    const { directory, startBackup, logs } = this.deployment
    const ledger = join(projectRoot(), 'infra', 'main', 'ledger.mjs')
    const publicKey = await succeed(process.execPath, [ledger, 'keygen', '--out', this.identity])
    writeFileSync(join(directory, 'secrets', 'backup.pub'), publicKey)
    await startBackup()
    await until('there is a base backup', DEADLINE_MS, async () => (await logs('backup')).includes('backed up ledger'))
  }

  /** Resolves once the backup has everything that PostgreSQL has committed. */
  async untilCopied(): Promise<void> {
    const { inside } = this.deployment
    const committed = BigInt(await inside('postgres', `${PSQL} "SELECT pg_current_wal_flush_lsn() - '0/0'"`))
    await until('the log is copied', DEADLINE_MS, async () => {
      const names = await inside('backup', `ls ${BACKUPS}/wal/*`)
      const ends = [...names.matchAll(/^[0-9a-f]{16}-([0-9a-f]{16})-/gm)].map(([, end]) => BigInt(`0x${end}`))
      return ends.some((end) => end >= committed)
    })
  }

  /** Stops everything but NATS, and removes the volume of PostgreSQL. */
  async loseDatabase(): Promise<void> {
    for (const service of ['backup', ...EDGES, ...NODES, 'auditor', 'migrate', 'postgres']) {
      await this.deployment.discard(service)
    }
    await engine('volume', 'rm', `${this.deployment.project}_postgres`)
  }

  /** Verifies the backup, and starts PostgreSQL on it and the ledger on PostgreSQL. */
  async restore(): Promise<void> {
    const { directory, project, up, untilDatabase, administer } = this.deployment
    const backups = ['--volume', `${project}_backups:/data`]
    const masterKey = ['--volume', `${join(directory, 'secrets', 'master.key')}:/run/secrets/master.key:ro`]
    const options = ['--rm', '-i', ...backups, ...masterKey, '--env', 'LEDGER_MASTER_KEY_FILE=/run/secrets/master.key']
    const restore = ['restore', BACKUPS, '--identity', '/dev/stdin', '--to', RESTORED]
    await engineWithInput(readFileSync(this.identity, 'utf8'), 'run', ...options, this.image, ...restore)
    const target = ['--volume', `${project}_postgres:/postgres`]
    const copy = ['--user', '0', '--entrypoint', 'sh', ...backups, ...target, this.image, '-c']
    await engine('run', '--rm', ...copy, `cp -a ${RESTORED}/. /postgres/`)
    await up('postgres')
    await untilDatabase()
    await administer('accept-server', '--yes')
    await up()
  }
}
