/**
 * What comes before the step that makes references out of IDs: the secret that they are made with, as settings of the
 * transaction. It goes there by COPY: the server logs no statement, and no parameter, that it could be read from.
 */
import { randomBytes } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import type postgres from 'postgres'
import { indexSecretName, sealLedgerSecret } from '../../keys/ledger-seals.ts'
import type { KeyRing } from '../../keys/wrapping-keys.ts'
import { INDEX_SECRET_BYTES, indexKeys } from '../../vault/blind-index.ts'
import { INDEX_SETTINGS } from './privacy-documents.ts'

export type PrepareStep = (sql: postgres.TransactionSql, keys: { readonly masterKeys: KeyRing }) => Promise<void>

/** Of HMAC, whose keys of 32 bytes fill half of a block of SHA-256. */
const BLOCK_BYTES = 64
const INNER = 0x36
const OUTER = 0x5c

export const preparePrivacy: PrepareStep = async (sql, { masterKeys }) => {
  const secret = randomBytes(INDEX_SECRET_BYTES)
  const { accountKey, idempotencyKey, bucketKey } = indexKeys(secret)
  const settings: readonly (readonly [string, Buffer])[] = [
    ['sealed', sealLedgerSecret(masterKeys, indexSecretName('off'), secret)],
    ...blocksOf('account', accountKey),
    ...blocksOf('key', idempotencyKey),
    ...blocksOf('bucket', bucketKey),
  ]
  await sql`CREATE TEMPORARY TABLE ledger_index_settings (name text, value text) ON COMMIT DROP`
  const lines = settings.map(([name, value]) => `${name}\t${value.toString('hex')}\n`)
  await pipeline(lines, await sql`COPY ledger_index_settings FROM STDIN`.writable())
  await sql`
    SELECT count(set_config(${`${INDEX_SETTINGS}.`}::text || name, value, true)) FROM ledger_index_settings`
}

function blocksOf(use: string, key: Buffer): [string, Buffer][] {
  const block = (pad: number): Buffer =>
    Buffer.from(Array.from({ length: BLOCK_BYTES }, (_, index) => (key[index] ?? 0) ^ pad))
  return [
    [`${use}_inner`, block(INNER)],
    [`${use}_outer`, block(OUTER)],
  ]
}
