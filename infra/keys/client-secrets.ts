/**
 * Client secrets: generated ones carry 256 bits and are stored as a keyed hash; chosen ones go through scrypt as well.
 *   P1. How much work a check is depends on the presented secret alone, never on whether the client exists or how its
 *       secret is stored: a secret formed like a generated one costs an HMAC, any other costs scrypt. Only one that was
 *       right for the record before costs less (P5), and who presents it knows that already.
 *   P2. Both hashes are keyed with a pepper that is not in the database: a copy of it cannot be searched.
 *   P3. scrypt uses at most a quarter of the processors, and at least one: a flood of guesses does not stop orders. The
 *       number of waiting secrets is limited.
 *   P4. One network takes only a share of that, so that guesses from one place do not keep right secrets out. Behind a
 *       proxy all clients are one network: there the share is what they have together.
 *   P5. A chosen secret that was right is remembered, as a keyed hash under a key of this process: it gets in without
 *       scrypt, whoever fills the queue.
 *   P6. A stored hash authenticates only the client that it was made for.
 */
import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { createBoundedCache } from '../../runtime/common/bounded-cache.ts'
import { networkOf } from './network.ts'
import { createSharedSlots, SlotsExhausted } from '../../runtime/common/slots.ts'

export interface ClientSecrets {
  /** The stored form of a secret: `hmac-sha256:<hex>` or `scrypt:<N>-<r>-<p>:<salt>:<hex>`. Throws ClientSecretsBusy. */
  readonly hash: (clientId: string, secret: string) => Promise<string>
  /** Whether the secret is the record's; false for an unknown client, after the same work (P1). Throws ClientSecretsBusy. */
  readonly verify: (
    record: SecretRecord | undefined,
    secret: string,
    /** Where it came from. */
    address: string,
  ) => Promise<boolean>
}

interface SecretRecord {
  readonly clientId: string
  readonly secretHash: string
}

export interface ClientSecretsOptions {
  /** 32 secret bytes that stay what they are for the life of the ledger. */
  readonly pepper: Buffer
  /** How many scrypt runs at once, and how many may wait for one. */
  readonly concurrency?: number
  readonly maxWaiting?: number
  /** How many of both one network may have. */
  readonly maxPerNetwork?: number
}

/** Too many chosen secrets are being checked: try again later. Says nothing about any secret. */
export class ClientSecretsBusy extends Error {
  override readonly name = 'ClientSecretsBusy'
}

const GENERATED = /^lsk_[A-Za-z0-9_-]{43}$/
const KEYED = /^hmac-sha256:([0-9a-f]{64})$/
const STRETCHED = /^scrypt:32768-8-1:([0-9a-f]{32}):([0-9a-f]{64})$/

/** N, r, p (RFC 7914): 32 MiB and about 100 ms. Records name them, so that a later release can tell its own from these. */
const COST = { N: 32_768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 }
const COST_NAME = `${COST.N}-${COST.r}-${COST.p}`
const HASH_BYTES = 32
const SALT_BYTES = 16
/** Longer ones are refused before any work. */
export const LONGEST_SECRET = 1_024

/** Records whose secret is remembered (P5). */
const MAX_REMEMBERED = 10_000
/** No client's ID and no secret's hash has one. */
const BETWEEN = '\u001f'
const NOBODY: SecretRecord = { clientId: '', secretHash: '' }
/** Of a secret that came over no network. */
export const NO_ADDRESS = ''

/** A new secret of 256 random bits. */
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
  /** Stored hash -> what `remembering` makes of the secret. */
  const remembered = createBoundedCache<string, Buffer>(MAX_REMEMBERED)

  const keyedFor = (clientId: string, use: string, input: string): Buffer =>
    createHmac('sha256', pepper)
      .update([`client ${use}`, clientId, input].join(BETWEEN))
      .digest()
  const keyedStretched = (clientId: string, bytes: Buffer): Buffer =>
    keyedFor(clientId, 'scrypt', bytes.toString('hex'))
  const remembering = ({ clientId, secretHash }: SecretRecord, secret: string): Buffer =>
    createHmac('sha256', memoryKey).update([clientId, secretHash, secret].join(BETWEEN)).digest()

  const stretched = async (secret: string, salt: Buffer, network: string): Promise<Buffer> => {
    try {
      return await slots.run(network, () => stretch(secret, salt))
    } catch (error) {
      if (error instanceof SlotsExhausted) throw new ClientSecretsBusy('Too many secrets are being checked.')
      throw error
    }
  }

  const verifyChosen = async (record: SecretRecord, secret: string, address: string): Promise<boolean> => {
    const { clientId, secretHash: stored } = record
    const proof = remembering(record, secret)
    const known = remembered.get(stored)
    if (known !== undefined && timingSafeEqual(known, proof)) return true
    const [, salt, hash] = STRETCHED.exec(stored) ?? []
    const bytes = salt === undefined ? unknownSalt : Buffer.from(salt, 'hex')
    const computed = await stretched(secret, bytes, networkOf(address))
    const right = sameHash(keyedStretched(clientId, computed), hash)
    if (right) remembered.set(stored, proof)
    return right
  }

  const verifyGenerated = ({ clientId, secretHash }: SecretRecord, secret: string): boolean => {
    const [, hash] = KEYED.exec(secretHash) ?? []
    return sameHash(keyedFor(clientId, 'secret', secret), hash)
  }

  return {
    hash: async (clientId, secret) => {
      if (GENERATED.test(secret)) return `hmac-sha256:${keyedFor(clientId, 'secret', secret).toString('hex')}`
      const salt = randomBytes(SALT_BYTES)
      const computed = keyedStretched(clientId, await stretched(secret, salt, NO_ADDRESS))
      return `scrypt:${COST_NAME}:${salt.toString('hex')}:${computed.toString('hex')}`
    },
    verify: async (record, secret, address) => {
      if (secret.length > LONGEST_SECRET) return false
      const compared = record ?? NOBODY
      return GENERATED.test(secret) ? verifyGenerated(compared, secret) : verifyChosen(compared, secret, address)
    },
  }
}

/** Compares all bytes whatever there is to compare with. */
function sameHash(computed: Buffer, stored: string | undefined): boolean {
  const expected = stored === undefined ? Buffer.alloc(HASH_BYTES) : Buffer.from(stored, 'hex')
  return timingSafeEqual(computed, expected) && stored !== undefined
}

function stretch(secret: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(secret, salt, HASH_BYTES, COST, (error, hash) => (error === null ? resolve(hash) : reject(error)))
  })
}
