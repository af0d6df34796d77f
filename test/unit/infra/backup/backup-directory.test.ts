import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { BackupDirectory, BackupWriter, CHUNK_BYTES } from '../../../../infra/backup/backup-directory.ts'
import { createOpener, createSealer } from '../../../../infra/backup/sealed-piece.ts'
import { publicJwkOf, readPublicKey } from '../../../../infra/keys/public-key.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

function writerOf(path: string): BackupWriter {
  const recipient = readPublicKey(publicJwkOf(privateKey))
  if (recipient === undefined) throw new Error('not a key')
  const owner = { recipientKeyId: recipient.keyId, systemIdentifier: '1' }
  return BackupWriter.open(path, owner, createSealer(recipient))
}

function newDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'ledger-backup-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Of a process in another container, which has the same process ID and sees no other one. */
function writerElsewhere(path: string): BackupWriter {
  for (const name of readdirSync(path)) if (name.includes('.lock.')) rmSync(join(path, name))
  return writerOf(path)
}

test('D2: chunks stay whole if a process in another container writes to the directory, too', async () => {
  const path = newDirectory()
  const writers = [writerOf(path), writerElsewhere(path)]
  const contents = Array.from({ length: 16 }, () => randomBytes(CHUNK_BYTES))
  const written = await Promise.all(contents.flatMap((content) => writers.map((writer) => writer.putChunk(content))))
  const [opener, source] = [createOpener(privateKey), new BackupDirectory(path)]
  for (const name of new Set(written)) expect(await source.readChunk(name, opener)).toHaveLength(CHUNK_BYTES)
  expect(readdirSync(path, { recursive: true }).filter((name) => String(name).includes('unfinished'))).toEqual([])
})
