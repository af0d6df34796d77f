/** Backup of a deployment's PostgreSQL, loss of its disk, and restore, with the commands of the image. */
import { join } from 'node:path'
import { type Deployment, EDGES, NODES } from './deployment.ts'
import { engine } from './engine.ts'

/** Of the image, in the volume of backups. */
const BACKUPS = '/data/backups'
const IDENTITY = '/data/backup.pem'
const RECIPIENT = '/data/backup.pub'
const RESTORED = '/data/restored'

export class Disaster {
  private readonly deployment: Deployment
  private readonly image: string
  private readonly volume: string

  constructor(deployment: Deployment, image: string) {
    this.deployment = deployment
    this.image = image
    this.volume = `${deployment.project}_backups`
  }

  /** Into a new volume, as the role for backups. */
  async backUp(): Promise<void> {
    await this.run(['--entrypoint', 'sh'], ['-c', `ledger keygen --out ${IDENTITY} > ${RECIPIENT}`])
    const { project } = this.deployment
    const settings = {
      LEDGER_ENVIRONMENT: 'production',
      LEDGER_DATABASE_URL: 'postgres://ledger_backup@postgres:5432/ledger?sslmode=verify-full',
      LEDGER_DATABASE_PASSWORD_FILE: '/run/secrets/ledger_backup.password',
      NODE_EXTRA_CA_CERTS: '/run/secrets/ca.pem',
    }
    const environment = Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`])
    const options = [
      '--network',
      `${project}_inside`,
      ...environment,
      ...this.secrets('ca.pem', 'ledger_backup.password'),
    ]
    await this.run(options, ['backup', BACKUPS, '--recipient-key', RECIPIENT])
  }

  /** Stops everything but NATS, and removes the volume of PostgreSQL. */
  async loseDatabase(): Promise<void> {
    for (const service of [...EDGES, ...NODES, 'auditor', 'migrate', 'postgres']) {
      await this.deployment.discard(service)
    }
    await engine('volume', 'rm', `${this.deployment.project}_postgres`)
  }

  /** Verifies the backup, and starts PostgreSQL on it and the ledger on PostgreSQL. */
  async restore(): Promise<string> {
    const environment = ['--env', 'LEDGER_MASTER_KEY_FILE=/run/secrets/master.key']
    const restored = await this.run(
      [...environment, ...this.secrets('master.key')],
      ['restore', BACKUPS, '--identity', IDENTITY, '--to', RESTORED],
    )
    const copy = `cp -a ${RESTORED}/. /postgres/`
    const target = `${this.deployment.project}_postgres:/postgres`
    await this.run(['--user', '0', '--entrypoint', 'sh', '--volume', target], ['-c', copy])
    await this.deployment.up('postgres')
    await this.deployment.untilDatabase()
    await this.deployment.administer('accept-server', '--yes')
    await this.deployment.up()
    return restored
  }

  async remove(): Promise<void> {
    await engine('volume', 'rm', '--force', this.volume)
  }

  private secrets(...names: string[]): readonly string[] {
    const { directory } = this.deployment
    return names.flatMap((name) => ['--volume', `${join(directory, 'secrets', name)}:/run/secrets/${name}:ro`])
  }

  private run(options: readonly string[], command: readonly string[]): Promise<string> {
    return engine('run', '--rm', '--volume', `${this.volume}:/data`, ...options, this.image, ...command)
  }
}
