/** A ledger that is backed up while it runs, and restored elsewhere. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { main } from '../../../infra/main/ledger.ts'
import { type AuditedLedger, createAuditedLedger, everythingOnce, Parties } from '../../support/audited-ledger.ts'
import { TEST_MASTER_KEY_TEXT } from '../../support/postgres/ledger-database.ts'
import { serverDirectory } from '../../support/processes/test-directory.ts'
import { silentIo } from '../../unit/cli/silent-io.ts'

let ledger: AuditedLedger
let directory: string

beforeAll(async () => {
  directory = serverDirectory('ledger-backup-')
  ledger = await createAuditedLedger()
  const parties = new Parties(ledger)
  await everythingOnce(parties, 'one')
  writeFileSync(join(directory, 'backup.pub'), (await run('keygen', '--out', 'backup.pem')).out)
})
afterAll(async () => {
  await ledger?.close()
  rmSync(directory, { recursive: true, force: true })
})

async function run(...args: readonly string[]) {
  let [out, err] = ['', '']
  const code = await main(
    args,
    silentIo({
      env: { LEDGER_DATABASE_URL: ledger.url, LEDGER_MASTER_KEY: TEST_MASTER_KEY_TEXT },
      cwd: directory,
      out: (text) => (out += text),
      err: (text) => (err += text),
    }),
  )
  return { code, out, err }
}

/** Returns what the command printed. Throws if it fails. */
async function done(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await run(...args)
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${err} ${out}`)
  return out + err
}

describe('a backup', () => {
  test('is restored elsewhere and verifies', async () => {
    const taken = await done('backup', 'backups', '--recipient-key', 'backup.pub')
    const restored = await done('restore', 'backups', '--identity', 'backup.pem', '--to', 'restored')
    expect(restored.match(/^ok: /gm)).toHaveLength(3)
    expect(taken).toContain(`backed up ledger ${ledger.ledgerId}`)
    expect(restored).toContain('restored to restored')
  })
})
