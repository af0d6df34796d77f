/** The backup that a restore uses. */
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type BaseName, BackupWriter } from '../../../../infra/backup/backup-directory.ts'
import { writeManifest } from '../../../../infra/backup/manifest.ts'
import { findRestorable } from '../../../../infra/backup/restore.ts'
import { createOpener, createSealer } from '../../../../infra/backup/sealed-piece.ts'
import { publicJwkOf, readPublicKey } from '../../../../infra/keys/public-key.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const SEGMENT_BYTES = 16 * 1_048_576

function newWriter(): BackupWriter {
  const path = mkdtempSync(join(tmpdir(), 'ledger-backup-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  const recipient = readPublicKey(publicJwkOf(privateKey))
  if (recipient === undefined) throw new Error('not a key')
  return BackupWriter.open(path, { recipientKeyId: recipient.keyId, systemIdentifier: '1' }, createSealer(recipient))
}

async function putBase(writer: BackupWriter, base: Omit<BaseName, 'name'>): Promise<void> {
  const { timeline, start, stop, atMs } = base
  const at = new Date(atMs).toISOString()
  await writer.putChunk(Buffer.of(0))
  await writer.putWal({ timeline, start: 0, end: stop, atMs }, Buffer.alloc(stop), undefined)
  const manifest = {
    format: 1 as const,
    ledger_id: 'ledger',
    service_key_ids: [],
    sealed_shard_secret: '',
    system_identifier: '1',
    timeline,
    start,
    stop,
    started_at: at,
    stopped_at: at,
    postgres_version: 170_000,
    wal_segment_bytes: SEGMENT_BYTES,
    database: 'ledger',
    superuser: 'postgres',
    label: '',
    log_head: null,
    log_published: null,
    checkpoint: null,
    directories: [],
    files: [],
  }
  await writer.putManifest(base, writeManifest(manifest))
}

test('is the one of the latest timeline, also if the clock of the server before was ahead', async () => {
  const writer = newWriter()
  const atMs = Date.UTC(2030, 0, 1)
  await putBase(writer, { timeline: '00000001', start: 100, stop: 200, atMs: atMs + 3_600_000 })
  await putBase(writer, { timeline: '00000002', start: 300, stop: 400, atMs })
  const { base } = await findRestorable(writer, createOpener(privateKey), undefined)
  expect(base.timeline).toBe('00000002')
})

test('is the last one of a timeline, also if the clock was put back', async () => {
  const writer = newWriter()
  const atMs = Date.UTC(2030, 0, 1)
  await putBase(writer, { timeline: '00000001', start: 100, stop: 200, atMs: atMs + 3_600_000 })
  await putBase(writer, { timeline: '00000001', start: 300, stop: 400, atMs })
  const { base } = await findRestorable(writer, createOpener(privateKey), undefined)
  expect(base.stop).toBe(400)
})
