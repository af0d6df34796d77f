/** A backup that was changed is refused, and the restore leaves nothing. */
import {
  copyFileSync,
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { generateKeyPairSync } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { chunkName } from '../../../infra/backup/backup-directory.ts'
import { createSealer } from '../../../infra/backup/sealed-piece.ts'
import { readKeyFile } from '../../../infra/cli/profile/key-files.ts'
import { publicJwkOf, type PublicKey, readPublicKey } from '../../../infra/keys/public-key.ts'
import { everythingOnce } from '../../support/audited-ledger.ts'
import { BackupScene } from './backup-scene.ts'

let scene: BackupScene
let copies = 0

beforeAll(async () => {
  scene = await BackupScene.start()
  await everythingOnce(scene.parties, 'one')
  await scene.backUp('backup')
  return () => scene.close()
})

/** Restores a copy of the backup that was changed by `change`. Returns why it is refused. */
async function refusalAfter(change: (copy: string) => Promise<void> | void): Promise<string> {
  copies += 1
  const [copy, target] = [`copy-${copies}`, `target-${copies}`]
  cpSync(scene.path('backup'), scene.path(copy), { recursive: true })
  await change(copy)
  const { code, text } = await scene.restoreTo(target, copy)
  expect([code, existsSync(scene.path(target)), existsSync(scene.path(`${target}.unfinished-restore`))]).toEqual([
    1,
    false,
    false,
  ])
  rmSync(scene.path(copy), { recursive: true })
  return text
}

/** The largest chunks, which are of data files. */
function chunksOf(copy: string): readonly string[] {
  return scene.filesIn(copy, 'chunks').toSorted((a, b) => readFileSync(b).length - readFileSync(a).length)
}

function flip(path: string | undefined, at: (length: number) => number): void {
  if (path === undefined) throw new Error('there is no such file')
  const bytes = readFileSync(path)
  const place = at(bytes.length)
  bytes[place] = (bytes[place] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

function keyOf(recipient: Parameters<typeof publicJwkOf>[0]): PublicKey {
  const key = readPublicKey(publicJwkOf(recipient))
  if (key === undefined) throw new Error('not a key')
  return key
}

const CHANGED = 'was changed, is another piece, or is encrypted to another key'

test('a changed chunk is found', async () => {
  expect(await refusalAfter((copy) => flip(chunksOf(copy)[0], (length) => length - 1))).toContain(CHANGED)
})

test('a dropped chunk is found', async () => {
  expect(await refusalAfter((copy) => rmSync(chunksOf(copy)[3] ?? ''))).toMatch(/chunks\/.* of the backup is missing/)
})

test('two exchanged chunks are found', async () => {
  const text = await refusalAfter((copy) => {
    const [one = '', other = ''] = chunksOf(copy)
    renameSync(one, `${one}.away`)
    renameSync(other, one)
    renameSync(`${one}.away`, other)
  })
  expect(text).toContain(CHANGED)
})

test('a chunk of another content, encrypted to the recipient under its name, is found', async () => {
  const recipient = keyOf(readKeyFile(scene.path('backup.pem')).key)
  const text = await refusalAfter(async (copy) => {
    const [path = ''] = chunksOf(copy)
    writeFileSync(path, await createSealer(recipient).seal(`chunks/${basename(path)}`, Buffer.from('other')))
  })
  expect(text).toContain('has another content than its name says')
})

test('a chunk that is encrypted to another key is found', async () => {
  const other = keyOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
  const content = Buffer.alloc(8_192)
  const text = await refusalAfter(async (copy) => {
    const [path = ''] = chunksOf(copy)
    writeFileSync(path, await createSealer(other).seal(`chunks/${chunkName(content)}`, content))
  })
  expect(text).toContain(CHANGED)
})

test('a truncated manifest is found, and so is one under the name of another backup', async () => {
  const manifestOf = (copy: string): string => scene.filesIn(copy, 'bases')[0] ?? ''
  expect(await refusalAfter((copy) => truncateSync(manifestOf(copy), 5_000))).toContain(CHANGED)
  const renamed = await refusalAfter((copy) => {
    const path = manifestOf(copy)
    renameSync(path, join(dirname(path), basename(path).replace(/^\d+/, '1000000000000')))
  })
  expect(renamed).toContain(CHANGED)
})

test('changed, dropped and exchanged WAL is found', async () => {
  const walOf = (copy: string): readonly string[] => scene.filesIn(copy, 'wal')
  expect(walOf('backup').length).toBeGreaterThan(1)
  expect(await refusalAfter((copy) => flip(walOf(copy)[1], (length) => length - 20))).toContain(CHANGED)
  expect(await refusalAfter((copy) => rmSync(walOf(copy)[0] ?? ''))).toContain('the WAL of the backup is missing from')
  expect(await refusalAfter((copy) => copyFileSync(walOf(copy)[0] ?? '', walOf(copy)[1] ?? ''))).toContain(CHANGED)
})

test('another identity and another master key are refused before anything is written', async () => {
  await scene.done('keygen', '--out', 'other.pem')
  const identity = await scene.run('restore', 'backup', '--identity', 'other.pem', '--to', 'never')
  expect([identity.code, identity.text]).toEqual([1, expect.stringContaining('and the identity is key')])
  const masterKey = scene.env['LEDGER_MASTER_KEY']
  scene.env['LEDGER_MASTER_KEY'] = Buffer.alloc(32, 9).toString('base64url')
  const key = await scene.restoreTo('never', 'backup')
  scene.env['LEDGER_MASTER_KEY'] = masterKey ?? ''
  expect([key.code, key.text]).toEqual([1, expect.stringContaining('is not the one that seals the secrets')])
  expect(existsSync(scene.path('never'))).toBe(false)
})

test('a ledger whose rows were changed before the backup does not verify', async () => {
  await scene.sql`UPDATE audit_entries SET audit_hash = sha256('changed') WHERE sequence = 0`
  await scene.sql`
    INSERT INTO administrative_entries (sequence, previous_hash, audit_hash, document)
    VALUES (0, decode(repeat('00', 32), 'hex'), sha256('an act'), '')`
  await scene.backUp('tampered')
  const { code, text } = await scene.restoreTo('tampered-restored', 'tampered')
  expect([code, text]).toEqual([
    1,
    expect.stringMatching(/^TAMPERED: chains_verify: .*does not verify: nothing was left/ms),
  ])
  expect(text).toContain('WENT BACK: administrative entry 0: its row was changed, or cannot be read')
  expect(existsSync(scene.path('tampered-restored'))).toBe(false)
})
