/** A backup that follows the write-ahead log, and restores of any time. */
import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { createOpener, createSealer } from '../../../infra/backup/sealed-piece.ts'
import { readKeyFile } from '../../../infra/cli/profile/key-files.ts'
import { publicJwkOf, readPublicKey } from '../../../infra/keys/public-key.ts'
import type { Party } from '../../support/audited-ledger.ts'
import { BackupScene } from './backup-scene.ts'

let scene: BackupScene
let payer: Party

beforeAll(async () => {
  scene = await BackupScene.start()
  payer = await scene.parties.open('payer')
  return () => scene.close()
})

function follow(...options: readonly string[]) {
  return scene.begin('backup', 'followed', '--recipient-key', 'backup.pub', '--follow', ...options)
}

/** The last position in the directory. */
function stored(): string {
  return scene.filesIn('followed', 'wal').at(-1)?.split('-').at(-2) ?? ''
}

/** Waits until everything that is flushed now is stored. */
async function untilStored(): Promise<void> {
  const [row] = await scene.sql<{ flushed: string }[]>`
    SELECT lpad(to_hex((pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::bigint), 16, '0') AS flushed`
  await expect.poll(() => stored() >= (row?.flushed ?? '')).toBe(true)
}

async function restored(target: string, ...options: readonly string[]): Promise<ReadonlySet<string>> {
  const { code, text } = await scene.restoreTo(target, 'followed', ...options)
  if (code !== 0) throw new Error(text)
  return scene.ordersIn(target)
}

test('restores the state of a time: orders before it, and none after it', async () => {
  const following = follow()
  await expect.poll(following.text).toContain('backed up ledger')
  const [before, at, after] = [await scene.credit(payer), await scene.now(), await scene.credit(payer)]
  await untilStored()
  expect((await following.stop()).code).toBe(0)
  const then = await restored('then', '--until', at)
  expect([then.has(before), then.has(after)]).toEqual([true, false])
  const end = await restored('end')
  expect([end.has(before), end.has(after)]).toEqual([true, true])
})

test('refuses a time before the first backup, and one after the last WAL', async () => {
  const early = await scene.restoreTo('never', 'followed', '--until', '2020-01-01T00:00:00Z')
  expect([early.code, early.text]).toEqual([1, expect.stringContaining('the earliest time that can be restored is')])
  const late = await scene.restoreTo('never', 'followed', '--until', '2100-01-01T00:00:00Z')
  expect([late.code, late.text]).toEqual([1, expect.stringContaining('the backup ends at')])
})

test('continues after it was stopped, without a new base backup', async () => {
  const missed = await scene.credit(payer)
  const following = follow()
  await untilStored()
  expect((await following.stop()).text).not.toContain('backed up')
  expect(scene.filesIn('followed', 'bases')).toHaveLength(1)
  expect(await restored('continued')).toContain(missed)
})

test('names a piece of the WAL by a time at which everything before its end was acknowledged', async () => {
  await scene.sql`SELECT pg_logical_emit_message(false, 'filling', repeat('x', 4000000))`
  const last = await scene.credit(payer)
  const at = Date.parse(await scene.now())
  const [row] = await scene.sql<{ flushed: string }[]>`
    SELECT (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::text AS flushed`
  const following = follow()
  await untilStored()
  await following.stop()
  // The first copy went beyond these.
  const pieces = scene
    .filesIn('followed', 'wal')
    .map((path) => path.split('-'))
    .filter((parts) => Number.parseInt(parts.at(-2) ?? '', 16) < Number(row?.flushed) - 1_048_576)
  expect(pieces.length).toBeGreaterThan(3)
  expect(pieces.filter((parts) => Number(parts.at(-1)) > at)).toEqual([])
  expect(await restored('timed', '--until', new Date(at).toISOString())).toContain(last)
})

test('is refused if PostgreSQL cannot read all of its WAL', async () => {
  cpSync(scene.path('followed'), scene.path('unreadable'), { recursive: true })
  const path = scene.filesIn('unreadable', 'wal').at(-1) ?? ''
  const { key } = readKeyFile(scene.path('backup.pem'))
  const recipient = readPublicKey(publicJwkOf(key))
  if (recipient === undefined) throw new Error('not a key')
  const name = path.slice(scene.path('unreadable').length + 1)
  const content = await createOpener(key).open(name, readFileSync(path), 1_048_576)
  content[content.length - 20] = (content.at(-20) ?? 0) ^ 1
  writeFileSync(path, await createSealer(recipient).seal(name, content))
  const { code, text } = await scene.restoreTo('never', 'unreadable')
  expect([code, text]).toEqual([1, expect.stringContaining('commits would be missing')])
})

test('is refused if an older copy of the server was put back', async () => {
  cpSync(scene.path('followed'), scene.path('ahead'), { recursive: true })
  const path = scene.filesIn('ahead', 'wal').at(-1) ?? ''
  renameSync(path, path.replace(/-[0-9a-f]{16}-/, '-00000fffffffffff-'))
  for (const more of [[], ['--follow']]) {
    const { code, text } = await scene.run('backup', 'ahead', '--recipient-key', 'backup.pub', ...more)
    expect([code, text]).toEqual([1, expect.stringContaining('an older copy was put back')])
  }
})

test('begins a new base backup if PostgreSQL removed WAL that was not copied', async () => {
  const missed = await scene.credit(payer)
  // More than wal_keep_size.
  for (let segments = 0; segments < 12; segments += 1) {
    await scene.credit(payer)
    await scene.sql`SELECT pg_switch_wal()`
    await scene.sql`CHECKPOINT`
  }
  const following = follow()
  await expect.poll(following.text).toContain('has removed its WAL')
  await expect.poll(following.text).toContain('backed up ledger')
  const last = await scene.credit(payer)
  await untilStored()
  expect((await following.stop()).code).toBe(0)
  expect(scene.filesIn('followed', 'bases')).toHaveLength(2)
  const found = await restored('anew')
  expect([found.has(missed), found.has(last)]).toEqual([true, true])
})
