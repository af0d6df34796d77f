/** A ledger is backed up while it takes orders, and restored elsewhere. */
import { existsSync, rmSync, statSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { BackupWriter } from '../../../infra/backup/backup-directory.ts'
import { readServerFacts, takeBase } from '../../../infra/backup/base-backup.ts'
import { createSealer } from '../../../infra/backup/sealed-piece.ts'
import { publicJwkOf, readPublicKey } from '../../../infra/keys/public-key.ts'
import { readKeyFile } from '../../../infra/cli/profile/key-files.ts'
import { claimFile } from '../../../infra/log/file-claim.ts'
import { connect } from '../../../infra/postgres/connection/connection.ts'
import { migrate } from '../../../infra/postgres/migrations/migrate.ts'
import { everythingOnce, type Party } from '../../support/audited-ledger.ts'
import { makeSecrets } from '../../support/nats/secured-nats.ts'
import { makeDatabaseRoles, urlOf } from '../../support/postgres/database-roles.ts'
import { TEST_MASTER_KEYS } from '../../support/postgres/ledger-database.ts'
import { BackupScene } from './backup-scene.ts'

let scene: BackupScene
let payer: Party

beforeAll(async () => {
  scene = await BackupScene.start()
  await everythingOnce(scene.parties, 'one')
  payer = await scene.parties.open('payer')
  await scene.backUp('first')
  return () => scene.close()
})

/** Orders without a pause, until it is stopped. */
class Orders {
  readonly acknowledged: { readonly txnId: string; readonly atMs: number }[] = []
  private isOn = true
  private readonly running: Promise<void>

  constructor() {
    this.running = this.run()
  }

  private async run(): Promise<void> {
    while (this.isOn) this.acknowledged.push({ txnId: await scene.credit(payer), atMs: Date.now() })
  }

  async stop(): Promise<void> {
    this.isOn = false
    await this.running
  }
}

function asOfMs(text: string): number {
  return Date.parse(/as of (\S+Z):/.exec(text)?.[1] ?? '')
}

describe('a backup under load', () => {
  test('has every order that was acknowledged before its time, and verifies', async () => {
    const orders = new Orders()
    await expect.poll(() => orders.acknowledged.length).toBeGreaterThan(20)
    const beganMs = Date.now()
    const text = await scene.backUp('loaded')
    await orders.stop()
    const inTime = orders.acknowledged.filter(({ atMs }) => atMs < asOfMs(text))
    expect(inTime.filter(({ atMs }) => atMs > beganMs).length).toBeGreaterThan(10)
    const restored = await scene.restoreTo('loaded-restored', 'loaded')
    expect(restored).toMatchObject({ code: 0 })
    expect(restored.text.match(/^ok: /gm)).toHaveLength(3)
    const found = await scene.ordersIn('loaded-restored')
    expect(inTime.filter(({ txnId }) => !found.has(txnId))).toEqual([])
  })

  test('of the same ledger again copies only changes', async () => {
    const before = scene.filesIn('loaded', 'chunks').length
    await scene.credit(payer)
    await scene.backUp('loaded')
    expect(scene.filesIn('loaded', 'bases')).toHaveLength(2)
    expect(scene.filesIn('loaded', 'chunks').length - before).toBeLessThan(before / 4)
    expect(await scene.restoreTo('loaded-again', 'loaded')).toMatchObject({ code: 0 })
  })

  test('has a checkpoint, which the restored ledger is compared with', async () => {
    await scene.done('checkpoint', 'checkpoint')
    await scene.backUp('checked', '--checkpoint', 'checkpoint')
    const { code, text } = await scene.restoreTo('checked-restored', 'checked')
    expect([code, text]).toEqual([0, expect.stringMatching(/^ok: checkpoint of .* accounts, as it was signed$/m)])
  })
})

describe('an interrupted backup', () => {
  test('continues where it was: what is stored does not travel again', async () => {
    const identity = readKeyFile(scene.path('backup.pem'))
    const recipient = readPublicKey(publicJwkOf(identity.key))
    const connection = await connect({ url: scene.server.url, applicationName: 'test' })
    try {
      const { systemIdentifier } = await readServerFacts(connection.sql)
      const attempt = async (interruptedAt: number) => {
        if (recipient === undefined) throw new Error('no recipient')
        const owner = { recipientKeyId: identity.keyId, systemIdentifier }
        const writer = BackupWriter.open(scene.path('interrupted'), owner, createSealer(recipient))
        const stop = new AbortController()
        let batches = 0
        // A connection of its own: a backup ends with its session.
        const own = await connect({ url: scene.server.url, applicationName: 'test' })
        try {
          const progress = (): void => {
            batches += 1
            if (batches === interruptedAt) stop.abort(new Error('interrupted'))
          }
          const options = { sql: own.sql, writer, signal: stop.signal, progress, isFast: true }
          return await takeBase(options)
        } finally {
          await own.end()
          writer.close()
        }
      }
      for (const interruptedAt of [1, 3, 5]) {
        await expect(attempt(interruptedAt)).rejects.toThrow('interrupted')
        expect(scene.filesIn('interrupted', 'bases')).toEqual([])
        expect((await scene.restoreTo('never', 'interrupted')).text).toContain('has no complete backup')
      }
      const stored = scene.filesIn('interrupted', 'chunks').map((path) => [path, statSync(path).ino] as const)
      expect(stored.length).toBeGreaterThan(100)
      const { progress } = await attempt(0)
      expect(progress.readBytes).toBeLessThan(progress.totalBytes / 2)
      expect(stored.filter(([path, ino]) => statSync(path).ino !== ino)).toEqual([])
      expect(await scene.restoreTo('interrupted-restored', 'interrupted')).toMatchObject({ code: 0 })
    } finally {
      await connection.end()
    }
  })
})

describe('one at a time', () => {
  test('a second backup into the same directory is refused', async () => {
    const following = scene.begin('backup', 'shared', '--recipient-key', 'backup.pub', '--follow')
    await expect.poll(following.text).toContain('backed up ledger')
    const second = await scene.run('backup', 'shared', '--recipient-key', 'backup.pub')
    expect([second.code, second.text]).toEqual([1, expect.stringContaining('another backup writes to')])
    expect((await following.stop()).code).toBe(0)
    await scene.backUp('shared')
  })

  test('a second restore into the same directory is refused', async () => {
    const release = claimFile(scene.path('taken'))
    const { code, text } = await scene.restoreTo('taken', 'first')
    release()
    expect([code, text]).toEqual([1, expect.stringContaining('another restore writes to')])
  })

  test('a restore into a directory with data is refused, also into that of the ledger', async () => {
    for (const name of ['postgres/data', 'first']) {
      const { code, text } = await scene.restoreTo(name, 'first')
      expect([code, text]).toEqual([1, expect.stringContaining('is not empty')])
    }
  })

  test('an interrupted restore leaves no directory, and the next one succeeds', async () => {
    const restore = scene.begin('restore', 'first', '--identity', 'backup.pem', '--to', 'stopped')
    await expect.poll(restore.text).toContain('PostgreSQL recovers')
    const { code, text } = await restore.stop()
    expect([code, text]).toEqual([1, expect.stringContaining('interrupted: nothing was restored')])
    expect([existsSync(scene.path('stopped')), existsSync(scene.path('stopped.unfinished-restore'))]).toEqual([
      false,
      false,
    ])
    expect(await scene.restoreTo('stopped', 'first')).toMatchObject({ code: 0 })
  })
})

describe('a restore for ledger up', () => {
  test('is refused as another server until it is accepted', async () => {
    const { LEDGER_DATABASE_URL: url = '', ...others } = scene.env
    const restored = { ...others, LEDGER_DATA_DIR: scene.path('embedded') }
    const restore = ['restore', 'first', '--identity', 'backup.pem', '--embedded']
    const made = await scene.runIn(restored, ...restore)
    expect([made.code, made.text]).toEqual([0, expect.stringContaining('and then ledger up, with the same')])
    const refused = await scene.runIn(restored, 'accept-server')
    expect([refused.code, refused.text]).toEqual([1, expect.stringContaining('timeline 00000002 is not accepted')])
    const accepted = await scene.runIn(restored, 'accept-server', '--yes')
    expect([accepted.code, accepted.text]).toEqual([0, expect.stringContaining('timeline 00000002 is accepted')])
    const again = await scene.runIn(restored, ...restore)
    expect([again.code, again.text]).toEqual([1, expect.stringContaining('has a ledger')])
    const both = await scene.runIn({ ...restored, LEDGER_DATABASE_URL: url }, ...restore)
    expect([both.code, both.text]).toEqual([1, expect.stringContaining('exclude each other')])
  })
})

describe('the role ledger_backup', () => {
  test('may take a backup, which restores, without a key of the ledger', async () => {
    const secrets = makeSecrets([])
    const address = await makeDatabaseRoles(scene.server.url, secrets)
    await migrate(urlOf(address, secrets, 'owner'), { shardCount: 4, masterKeys: TEST_MASTER_KEYS })
    const env = { LEDGER_ENVIRONMENT: 'production', LEDGER_DATABASE_URL: urlOf(address, secrets, 'backup') }
    const taken = await scene.runIn(env, 'backup', 'of-role', '--recipient-key', 'backup.pub')
    rmSync(secrets, { recursive: true })
    expect(taken).toMatchObject({ code: 0 })
    expect(await scene.restoreTo('of-role-restored', 'of-role')).toMatchObject({ code: 0 })
  })
})
