/**
 * The master keys of a configuration, and what they open of a ledger: every secret that a process has comes from here.
 *   O1. A process that was given other master keys is refused before it does anything: all secrets of the ledger's row open,
 *       or none are given out.
 *   O2. Whoever gets the secrets gets what they need to do their work, and no master key.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Configuration } from '../config/configuration.ts'
import {
  indexSecretName,
  type LedgerSecretName,
  openLedgerSecret,
  openRootSecret,
  sealLedgerSecret,
} from '../keys/ledger-seals.ts'
import {
  loadMasterKey,
  loadMasterKeys,
  loadOrCreateMasterKey,
  type MasterKey,
  type MasterKeys,
  MasterKeyUnusable,
} from '../keys/master-key.ts'
import { createMasterSeal, MasterKeyMissing, type MasterSeal } from '../keys/master-seal.ts'
import { createDerivation, type DeriveKey } from '../keys/root-secret.ts'
import { createShardHash } from '../keys/shard-hash.ts'
import type { LedgerRecord, MigrateOptions } from '../postgres/migrate.ts'
import { createDataKeys } from '../vault/data-keys.ts'
import { createKeyWrapping } from '../vault/key-wrapping.ts'
import { createFollowingVault } from '../vault/following-vault.ts'
import { createRowVault, type RowVault } from '../vault/row-vault.ts'

export interface LedgerSecrets {
  /** Which shard an account lives on. */
  readonly shardOf: (accountId: string) => number
  /** How rows are written and read. */
  readonly vault: RowVault
  /** What is derived from the root secret. */
  readonly derive: DeriveKey
  /** What the service's signing keys are sealed with. */
  readonly serviceKeys: MasterSeal
}

/** Where the sandbox keeps the key that it made. */
export function generatedKeyFile(configuration: Configuration): string {
  return join(configuration.dataDir, 'master.key')
}

/** In the sandbox one is made at first start, in production none ever. Throws MasterKeyUnusable. */
export async function openMasterKeys(configuration: Configuration): Promise<MasterKeys> {
  return openKeys(configuration, async () => {
    if (configuration.environment === 'production') {
      throw new MasterKeyUnusable('LEDGER_MASTER_KEY or LEDGER_MASTER_KEY_FILE is not set: production makes no key.')
    }
    return loadOrCreateMasterKey(generatedKeyFile(configuration))
  })
}

/** Those of a ledger that there is: none is made. Throws MasterKeyUnusable. */
export async function existingMasterKeys(configuration: Configuration): Promise<MasterKeys> {
  return openKeys(configuration, async () => {
    const file = generatedKeyFile(configuration)
    if (configuration.environment === 'sandbox' && existsSync(file)) return loadMasterKey(file)
    throw new MasterKeyUnusable(
      `There is no master key: set LEDGER_MASTER_KEY or LEDGER_MASTER_KEY_FILE, or LEDGER_DATA_DIR to where the sandbox keeps its own (there is no ${file}).`,
    )
  })
}

/** `generated`: where the configuration names none. */
async function openKeys(configuration: Configuration, generated: () => Promise<MasterKey>): Promise<MasterKeys> {
  const { masterKey, masterKeyFile, previousMasterKeys, previousMasterKeyFile } = configuration
  const previous =
    previousMasterKeyFile === undefined
      ? previousMasterKeys
      : await namingVariable('LEDGER_PREVIOUS_MASTER_KEY_FILE', loadMasterKeys(previousMasterKeyFile))
  if (masterKey !== undefined) return { current: masterKey, previous }
  const current =
    masterKeyFile === undefined
      ? await generated()
      : await namingVariable('LEDGER_MASTER_KEY_FILE', loadMasterKey(masterKeyFile))
  return { current, previous }
}

/** Which of the files it is that is not as it must be. */
async function namingVariable<T>(name: string, loading: Promise<T>): Promise<T> {
  try {
    return await loading
  } catch (cause) {
    if (!(cause instanceof MasterKeyUnusable)) throw cause
    throw new MasterKeyUnusable(`${name}: ${cause.message}`, { cause: cause.cause })
  }
}

/** Throws an Error when the master keys do not open the ledger (O1). */
export function openLedgerSecrets(masterKeys: MasterKeys, ledger: LedgerRecord): LedgerSecrets {
  const open = (name: LedgerSecretName, sealed: Buffer): Buffer => openLedgerSecret(masterKeys, name, sealed).secret
  return refusingOthers(() => {
    const dataKeys = createDataKeys(createKeyWrapping(masterKeys))
    const indexSecret = open(indexSecretName(ledger.encryption.stage), ledger.sealedIndexSecret)
    return {
      shardOf: createShardHash(open('shard-secret', ledger.sealedShardSecret), ledger.shardCount),
      vault:
        ledger.encryption.stage === 'on'
          ? createRowVault(dataKeys, indexSecret)
          : createFollowingVault(dataKeys, indexSecret, ledger.encryption),
      derive: createDerivation(openRootSecret(masterKeys, ledger).secret),
      serviceKeys: createMasterSeal(masterKeys, 'service-keys'),
    }
  })
}

/** What a ledger is made with. `encryption`: `off` leaves its rows as they are. */
export function newLedgerSecrets(
  masterKeys: MasterKeys,
  encryption: 'on' | 'off',
): Pick<MigrateOptions, 'sealShardSecret' | 'sealRootSecret' | 'sealIndexSecret' | 'wrapping'> {
  const secrets = {
    sealShardSecret: (secret: Buffer) => sealLedgerSecret(masterKeys, 'shard-secret', secret),
    sealRootSecret: (secret: Buffer) => sealLedgerSecret(masterKeys, 'root-secret', secret),
    sealIndexSecret: (secret: Buffer, stage: 'on' | 'off') =>
      sealLedgerSecret(masterKeys, indexSecretName(stage), secret),
  }
  return encryption === 'off' ? secrets : { ...secrets, wrapping: createKeyWrapping(masterKeys) }
}

/** Throws an Error unless one of the master keys opens this secret of a ledger. */
export function refuseOtherMasterKeys(masterKeys: MasterKeys, sealedShardSecret: Buffer): void {
  refusingOthers(() => openLedgerSecret(masterKeys, 'shard-secret', sealedShardSecret))
}

function refusingOthers<T>(open: () => T): T {
  try {
    return open()
  } catch (cause) {
    if (!(cause instanceof MasterKeyMissing)) throw cause
    throw new Error(
      'the master key is not the one that the secrets of this ledger are sealed under: it was made with another, or rotated to another, or its row was changed',
      { cause },
    )
  }
}
