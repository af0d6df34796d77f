/**
 * Client secrets. Generated ones have 256 random bits and are stored as a keyed hash. Chosen ones also go through scrypt.
 *   P1. The work of a check depends on the presented secret only, not on the existence of the client or the stored form. A
 *       secret in the form of generated ones costs an HMAC, any other costs scrypt. Exception: P5, which reveals nothing new.
 *   P2. Both hashes are keyed with a pepper that is not in the database, so that a copy of the database cannot be searched.
 *   P3. scrypt uses at most a quarter of the processors, and at least one, so that guesses do not stop orders. The number of
 *       waiting secrets is bounded.
 *   P4. One network gets only a share of the scrypt slots, so that its guesses do not block others. Behind a proxy all
 *       clients share one network.
 *   P5. A correct chosen secret is cached as a keyed hash under a key of this process, and then needs no scrypt slot.
 *   P6. A stored hash authenticates only the client that it was computed for.
 */
import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { createBoundedCache } from '../../runtime/common/bounded-cache.ts'
import { networkOf } from './network.ts'
import { createSharedSlots, SlotsExhausted } from '../../runtime/common/slots.ts'

export interface ClientSecrets {
  /** A generated secret, and its stored form. */
  readonly create: (clientId: string) => Promise<{ readonly secret: string; readonly secretHash: string }>
  /** The stored form of a secret: `hmac-sha256:<hex>` or `scrypt:<N>-<r>-<p>:<salt>:<hex>`. Throws ClientSecretsBusy. */
  readonly hash: (clientId: string, secret: string) => Promise<string>
  /** Whether the secret is the record's; false for an unknown client, after the same work (P1). Throws ClientSecretsBusy. */
  readonly verify: (
    record: SecretRecord | undefined,
    secret: string,
    /** IP address of the client. */
    address: string,
  ) => Promise<boolean>
}

interface SecretRecord {
  readonly clientId: string
  /** null: the client has a key instead, and no secret is right. */
  readonly secretHash: string | null
}

export interface ClientSecretsOptions {
  /** 32 secret bytes, fixed for the life of the ledger. */
  readonly pepper: Buffer
  /** Bounds of the scrypt runs at once, and of those that wait. */
  readonly concurrency?: number
  readonly maxWaiting?: number
  /** Bound of both for one network. */
  readonly maxPerNetwork?: number
}

/** Too many chosen secrets are being checked. Reveals nothing about any secret. */
export class ClientSecretsBusy extends Error {
  override readonly name = 'ClientSecretsBusy'
}

const GENERATED = /^lsk_[A-Za-z0-9_-]{43}$/
const KEYED = /^hmac-sha256:([0-9a-f]{64})$/
const STRETCHED = /^scrypt:32768-8-1:([0-9a-f]{32}):([0-9a-f]{64})$/

/** N, r, p (RFC 7914): 32 MiB and about 100 ms. Stored with each hash, so that a later release can change them. */
const COST = { N: 32_768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 }
const COST_NAME = `${COST.N}-${COST.r}-${COST.p}`
const HASH_BYTES = 32
const SALT_BYTES = 16
/** Longer secrets are refused without a check. */
export const LONGEST_SECRET = 1_024

/** P5. */
const MAX_CACHED = 10_000
/** Occurs in no client ID and no hash. */
const SEPARATOR = '\u001f'
const UNKNOWN_CLIENT: SecretRecord = { clientId: '', secretHash: '' }
/** For secrets that did not arrive over a network. */
export const NO_ADDRESS = ''

export function generateClientSecret(): string {
  return `lsk_${randomBytes(32).toString('base64url')}`
}

export function createClientSecrets({
  pepper,
  concurrency = Math.max(1, Math.floor(availableParallelism() / 4)),
  maxWaiting = 64,
  maxPerNetwork = 16,
}: ClientSecretsOptions): ClientSecrets {
  const slots = createSharedSlots({ concurrency, maxWaiting, maxPerHolder: maxPerNetwork })
  const unknownSalt = randomBytes(SALT_BYTES)
  const memoryKey = randomBytes(HASH_BYTES)
  /** Stored hash -> `cacheProof` of the secret (P5). */
  const cached = createBoundedCache<string, Buffer>(MAX_CACHED)

  const keyedFor = (clientId: string, use: string, input: string): Buffer =>
    createHmac('sha256', pepper)
      .update([`client ${use}`, clientId, input].join(SEPARATOR))
      .digest()
  const keyedStretched = (clientId: string, bytes: Buffer): Buffer =>
    keyedFor(clientId, 'scrypt', bytes.toString('hex'))
  const cacheProof = ({ clientId, secretHash }: SecretRecord, secret: string): Buffer =>
    createHmac('sha256', memoryKey).update([clientId, secretHash, secret].join(SEPARATOR)).digest()

  const stretched = async (secret: string, salt: Buffer, network: string): Promise<Buffer> => {
    try {
      return await slots.run(network, () => stretch(secret, salt))
    } catch (error) {
      if (error instanceof SlotsExhausted) throw new ClientSecretsBusy('Too many secrets are being checked.')
      throw error
    }
  }

  const verifyChosen = async (record: SecretRecord, secret: string, address: string): Promise<boolean> => {
    const { clientId, secretHash } = record
    const stored = secretHash ?? ''
    const proof = cacheProof(record, secret)
    const known = cached.get(stored)
    if (known !== undefined && timingSafeEqual(known, proof)) return true
    const [, salt, hash] = STRETCHED.exec(stored) ?? []
    const bytes = salt === undefined ? unknownSalt : Buffer.from(salt, 'hex')
    const computed = await stretched(secret, bytes, networkOf(address))
    const right = sameHash(keyedStretched(clientId, computed), hash)
    if (right) cached.set(stored, proof)
    return right
  }

  const verifyGenerated = ({ clientId, secretHash }: SecretRecord, secret: string): boolean => {
    const [, hash] = KEYED.exec(secretHash ?? '') ?? []
    return sameHash(keyedFor(clientId, 'secret', secret), hash)
  }

  const generatedHash = (clientId: string, secret: string): string =>
    `hmac-sha256:${keyedFor(clientId, 'secret', secret).toString('hex')}`

  return {
    create: async (clientId) => {
      const secret = generateClientSecret()
      return { secret, secretHash: generatedHash(clientId, secret) }
    },
    hash: async (clientId, secret) => {
      if (GENERATED.test(secret)) return generatedHash(clientId, secret)
      const salt = randomBytes(SALT_BYTES)
      const computed = keyedStretched(clientId, await stretched(secret, salt, NO_ADDRESS))
      return `scrypt:${COST_NAME}:${salt.toString('hex')}:${computed.toString('hex')}`
    },
    verify: async (record, secret, address) => {
      if (secret.length > LONGEST_SECRET) return false
      const compared = record ?? UNKNOWN_CLIENT
      return GENERATED.test(secret) ? verifyGenerated(compared, secret) : verifyChosen(compared, secret, address)
    },
  }
}

/** Takes the same time without a stored hash. */
function sameHash(computed: Buffer, stored: string | undefined): boolean {
  const expected = stored === undefined ? Buffer.alloc(HASH_BYTES) : Buffer.from(stored, 'hex')
  return timingSafeEqual(computed, expected) && stored !== undefined
}

function stretch(secret: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(secret, salt, HASH_BYTES, COST, (error, hash) => (error === null ? resolve(hash) : reject(error)))
  })
}
