/**
 * Reads the configured keys and opens the ledger's secrets with them: the only source of a process's secrets.
 *   O1. A process with the keys of another master key gets no secret: every secret of the ledger's row that its part needs
 *       must open.
 *   O2. A part gets only the keys that it needs, from its part key or from the master key.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Configuration } from '../config/configuration.ts'
import { type LedgerSecretName, openLedgerSecret } from '../keys/ledger-seals.ts'
import {
  type GivenMasterKey,
  KeyUnusable,
  loadGivenMasterKey,
  loadMasterKey,
  loadMasterKeys,
  loadOrCreateMasterKey,
} from '../keys/master-key.ts'
import { MasterKeyMissing } from '../keys/master-seal.ts'
import { remedyOf } from '../keys/outside/key-process.ts'
import { createKeyProgram } from '../keys/outside/key-program.ts'
import { OutsideKeysUnavailable } from '../keys/outside/outside-keys.ts'
import { outsideWrappingKeys } from '../keys/outside/outside-master-key.ts'
import { loadPartKey, type PartKey } from '../keys/part-key.ts'
import { createDerivation, type DeriveKey } from '../keys/root-secret.ts'
import { createServiceKeySeals, type ServiceKeySeals } from '../keys/service-key-seals.ts'
import { createShardHash } from '../keys/shard-hash.ts'
import { type KeyRing, type Part, ringOfPart, type WrappingKeys } from '../keys/wrapping-keys.ts'
import type { LedgerRecord } from '../postgres/migrations/migrate.ts'
import { createDataKeys } from '../vault/data-keys.ts'
import { createKeyWrapping } from '../vault/key-wrapping.ts'
import { createRowVault, type RowVault } from '../vault/row-vault.ts'

/** Secrets of every node and edge. */
export interface NodeSecrets {
  /** The shard ID of an account. */
  readonly shardOf: (accountId: string) => number
  readonly vault: RowVault
  /** Seals messages between edges and nodes. */
  readonly messageSecret: Buffer
  /** Seals the signing keys of the purposes whose wrapping keys this process has. */
  readonly serviceKeys: ServiceKeySeals
}

export interface LedgerSecrets extends NodeSecrets {
  /** Derives keys from the root secret. */
  readonly derive: DeriveKey
}

/** The master key that the sandbox generates. */
export function generatedKeyFile(configuration: Configuration): string {
  return join(configuration.dataDir, 'master.key')
}

/** The sandbox generates a key at the first start, production never. Throws KeyUnusable. */
export async function openMasterKeys(configuration: Configuration): Promise<KeyRing> {
  return openKeys(configuration, async () => {
    if (configuration.environment === 'production') {
      throw new KeyUnusable('LEDGER_MASTER_KEY or LEDGER_MASTER_KEY_FILE is not set: production generates no key.')
    }
    const file = generatedKeyFile(configuration)
    // A new key would not open the existing ledger.
    if (!existsSync(file) && existsSync(join(configuration.dataDir, 'postgres', 'data'))) {
      throw new KeyUnusable(
        `${file} is missing, and ${configuration.dataDir} has a ledger: restore your copy of the master key, or set LEDGER_MASTER_KEY_FILE.`,
      )
    }
    return loadOrCreateMasterKey(file)
  })
}

/** The keys of an existing ledger: generates none. Throws KeyUnusable. */
export async function existingMasterKeys(configuration: Configuration): Promise<KeyRing> {
  return openKeys(configuration, async () => {
    const file = generatedKeyFile(configuration)
    if (configuration.environment === 'sandbox' && existsSync(file)) return loadMasterKey(file)
    throw new KeyUnusable(
      `There is no master key: set LEDGER_MASTER_KEY or LEDGER_MASTER_KEY_FILE, or LEDGER_DATA_DIR to where the sandbox keeps its own (there is no ${file}).`,
    )
  })
}

/** The keys of a part, from its part key or the master key. Throws KeyUnusable, also for another part's key. */
export async function openPartKeys(configuration: Configuration, part: Part): Promise<KeyRing> {
  const given = await givenPartKey(configuration)
  return given === undefined ? ringOfPart(await openMasterKeys(configuration), part) : ringGivenTo(part, given)
}

/** The same for an existing ledger. */
export async function existingPartKeys(configuration: Configuration, part: Part): Promise<KeyRing> {
  const given = await givenPartKey(configuration)
  return given === undefined ? ringOfPart(await existingMasterKeys(configuration), part) : ringGivenTo(part, given)
}

async function givenPartKey({ partKey, partKeyFile }: Configuration): Promise<PartKey | undefined> {
  return partKeyFile === undefined ? partKey : namingVariable('LEDGER_PART_KEY_FILE', loadPartKey(partKeyFile))
}

function ringGivenTo(part: Part, given: PartKey): KeyRing {
  if (given.part === part) return given.ring
  throw new KeyUnusable(
    `The part key is for part ${given.part}, but this is part ${part}: use its own (ledger keys part-key --part ${part}).`,
  )
}

/** `generated`: called if no master key is configured. */
async function openKeys(configuration: Configuration, generated: () => Promise<WrappingKeys>): Promise<KeyRing> {
  const { masterKey, masterKeyFile, previousMasterKeys, previousMasterKeyFile, partKey, partKeyFile } = configuration
  if (partKey !== undefined || partKeyFile !== undefined) {
    throw new KeyUnusable(
      'This command needs the master key (LEDGER_MASTER_KEY or LEDGER_MASTER_KEY_FILE), not a part key.',
    )
  }
  const previous =
    previousMasterKeyFile === undefined
      ? previousMasterKeys
      : await namingVariable('LEDGER_PREVIOUS_MASTER_KEY_FILE', loadMasterKeys(previousMasterKeyFile))
  if (masterKey !== undefined) return derived(masterKey, previous, configuration)
  const current =
    masterKeyFile === undefined
      ? await generated()
      : await namingVariable('LEDGER_MASTER_KEY_FILE', loadGivenMasterKey(masterKeyFile))
  return derived(current, previous, configuration)
}

/** Asks the key program for the wrapping keys of master keys outside. Throws KeyUnusable. */
async function derived(
  current: GivenMasterKey,
  previous: readonly GivenMasterKey[],
  { keyCommand }: Configuration,
): Promise<KeyRing> {
  if ('keys' in current && previous.every((key) => 'keys' in key)) return { current, previous }
  if (keyCommand === undefined) {
    throw new KeyUnusable('A master key is outside: set LEDGER_KEY_COMMAND to the program that holds it.')
  }
  const program = createKeyProgram({ command: keyCommand, log: { info: () => undefined, error: () => undefined } })
  try {
    const keysOf = async (key: GivenMasterKey): Promise<WrappingKeys> =>
      'keys' in key ? key : outsideWrappingKeys(program, key.outside)
    return { current: await keysOf(current), previous: await Promise.all(previous.map(keysOf)) }
  } catch (cause) {
    if (!(cause instanceof OutsideKeysUnavailable)) throw cause
    throw new KeyUnusable(`A master key outside cannot be used: ${cause.message}.${remedyOf(cause)}`, { cause })
  } finally {
    await program.close()
  }
}

/** Adds the name of the variable to an error. */
async function namingVariable<T>(name: string, loading: Promise<T>): Promise<T> {
  try {
    return await loading
  } catch (cause) {
    if (!(cause instanceof KeyUnusable)) throw cause
    throw new KeyUnusable(`${name}: ${cause.message}`, { cause: cause.cause })
  }
}

/** Leaves out the signing keys that the ring does not open. Throws if another secret does not open (O1). */
export function openLedgerSecrets(ring: KeyRing, ledger: LedgerRecord): LedgerSecrets {
  return {
    ...openNodeSecrets(ring, ledger),
    derive: createDerivation(open(ring, 'root-secret', ledger.sealedRootSecret)),
  }
}

/** Throws if a secret does not open (O1). */
export function openNodeSecrets(ring: KeyRing, ledger: LedgerRecord): NodeSecrets {
  return {
    shardOf: createShardHash(open(ring, 'shard-secret', ledger.sealedShardSecret), ledger.shardCount),
    vault: openVault(ring, ledger),
    messageSecret: open(ring, 'message-secret', ledger.sealedMessageSecret),
    serviceKeys: createServiceKeySeals(ring),
  }
}

/** For a process that only reads. Throws if a secret does not open (O1). */
export function openVault(ring: KeyRing, ledger: LedgerRecord): RowVault {
  refuseOtherMasterKeys(ring, ledger.sealedShardSecret)
  const indexSecret = open(ring, 'index-secret', ledger.sealedIndexSecret)
  return createRowVault(createDataKeys(createKeyWrapping(ring)), indexSecret, ledger)
}

/** Throws unless the keys derive from the master key that seals this secret. */
export function refuseOtherMasterKeys(ring: KeyRing, sealedShardSecret: Buffer): void {
  open(ring, 'shard-secret', sealedShardSecret)
}

function open(ring: KeyRing, name: LedgerSecretName, sealed: Buffer): Buffer {
  try {
    return openLedgerSecret(ring, name, sealed).secret
  } catch (cause) {
    if (!(cause instanceof MasterKeyMissing)) throw cause
    throw new Error(
      'the master key (or that of the part key) is not the one that seals the secrets of this ledger: the ledger was created with another, or rotated to another, or its row was changed',
      { cause },
    )
  }
}
