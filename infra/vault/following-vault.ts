/**
 * The vault of a ledger that is not encrypted, or not all of it: texts are read by their own form, and written in that of
 * their shard. References are the same throughout.
 *   F1. Whoever writes a shard knows its form: it changes only together with the shard's epoch, and an owner looks after it
 *       has acquired the shard.
 *   F2. Once the ledger is encrypted V1 holds here, too: from the first look that sees it.
 *   F3. Where a sealed text is met first, before any look, keys are fetched from then on: that one is asked for again.
 */
import { createBlindIndex } from './blind-index.ts'
import type { DataKeys } from './data-keys.ts'
import { type EncryptionProgress, furtherOf, readEncryption } from './encryption-progress.ts'
import { plainBase64, plainHex, plainText, type RowVault, sealingVault } from './row-vault.ts'
import { SEALED_VERSION } from './sealed-text.ts'

export function createFollowingVault(keys: DataKeys, indexSecret: Buffer, first: EncryptionProgress): RowVault {
  const sealing = sealingVault(keys, createBlindIndex(indexSecret))
  let progress = first
  const learn = (seen: EncryptionProgress): void => void (progress = furtherOf(progress, seen))
  return {
    ...sealing,
    get encrypts() {
      return progress.stage !== 'off'
    },
    get mixes() {
      return progress.stage === 'converting'
    },
    seals: (shardId) => {
      if (progress.stage === 'converting') return shardId === null || shardId < progress.shards
      return progress.stage === 'on'
    },
    follow: async (sql) => {
      if (progress.stage !== 'on') learn(await readEncryption(sql))
    },
    sealBase64: (name, place, text, made) =>
      progress.stage === 'off' ? plainBase64(text) : sealing.sealBase64(name, place, text, made),
    seal: (name, place, text, made) =>
      progress.stage === 'off' ? plainHex(text) : sealing.seal(name, place, text, made),
    fingerprints: (name, made) =>
      progress.stage === 'on' || made?.has(name) === true || keys.known(name) !== undefined
        ? sealing.fingerprints(name, made)
        : undefined,
    open: (name, place, bytes, own) => {
      if (bytes[0] === SEALED_VERSION) {
        learn({ stage: 'converting', shards: 0 })
        return sealing.open(name, place, bytes, own)
      }
      return progress.stage === 'on' ? sealing.open(name, place, bytes, own) : plainText(bytes)
    },
  }
}
