/**
 * Pieces of a backup, encrypted to the recipient's P-256 key: ephemeral ECDH, HKDF-SHA-256, AES-256-GCM.
 *   S1. A sealer has its own key and numbers its pieces, so that no key and nonce encrypt twice.
 *   S2. A piece opens only under its name, which says what and where it is. A changed or truncated piece does not open.
 *   S3. A sealer cannot open what other sealers sealed, and its own key is in no file.
 *   S4. It does not authenticate the sender: everyone has the public key.
 * A piece: magic, ephemeral point (33 bytes), number (8 bytes), ciphertext, tag (16 bytes). The plaintext begins with a byte
 * that says whether the rest is compressed.
 */
import {
  createCipheriv,
  createDecipheriv,
  createECDH,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import { promisify } from 'node:util'
import { deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib'
import { jwkOf, publicJwkOf, type PublicKey, readPublicKey } from '../keys/public-key.ts'

export interface Sealer {
  /** `name`: unique in the backup. */
  readonly seal: (name: string, content: Uint8Array) => Promise<Buffer>
}

export interface Opener {
  /** Throws PieceBroken. `mostBytes`: of the content. */
  readonly open: (name: string, sealed: Buffer, mostBytes: number) => Promise<Buffer>
}

/** A piece was changed, is another one, or is sealed to another key. The message names it. */
export class PieceBroken extends Error {
  override readonly name = 'PieceBroken'
}

const CURVE = 'prime256v1'
const CIPHER = 'aes-256-gcm'
const MAGIC = Buffer.from('LBK1', 'ascii')
const KEY_LABEL = 'ledger backup piece'
const POINT_BYTES = 33
const NUMBER_BYTES = 8
const HEADER_BYTES = MAGIC.length + POINT_BYTES + NUMBER_BYTES
const TAG_BYTES = 16
const KEY_BYTES = 32
const [PLAIN, COMPRESSED] = [0, 1]
const LEVEL = { level: 1 }
/** Sealed rows do not compress, and trying takes longer than encrypting. */
const SAMPLE_BYTES = 16_384
const WORTH_COMPRESSING = 0.8

const compress = promisify(deflateRaw) as (content: Uint8Array, options: typeof LEVEL) => Promise<Buffer>
const decompress = promisify(inflateRaw) as (
  content: Uint8Array,
  options: { maxOutputLength: number },
) => Promise<Buffer>

export function createSealer(recipient: PublicKey): Sealer {
  const ephemeral = createECDH(CURVE)
  ephemeral.generateKeys()
  const point = ephemeral.getPublicKey(null, 'compressed')
  const secret = ephemeral.computeSecret(recipient.publicKey, 'base64url')
  const key = pieceKey(secret, point, Buffer.from(recipient.publicKey, 'base64url'))
  let count = 0
  return {
    seal: async (name, content) => {
      const number = Buffer.alloc(NUMBER_BYTES)
      number.writeBigUInt64BE(BigInt(count))
      count += 1
      const header = Buffer.concat([MAGIC, point, number])
      const [form, body] = await packed(content)
      const cipher = createCipheriv(CIPHER, key, nonceOf(number)).setAAD(associated(header, name))
      return Buffer.concat([
        header,
        cipher.update(Buffer.of(form)),
        cipher.update(body),
        cipher.final(),
        cipher.getAuthTag(),
      ])
    },
  }
}

/** `privateKey`: of the recipient. */
export function createOpener(privateKey: KeyObject): Opener {
  const own = readPublicKey(publicJwkOf(privateKey))
  if (own === undefined) throw new TypeError('not a P-256 key')
  const recipientPoint = Buffer.from(own.publicKey, 'base64url')
  const keys = new Map<string, Buffer>()
  const keyOf = (point: Buffer): Buffer => {
    const text = point.toString('base64url')
    const known = keys.get(text)
    if (known !== undefined) return known
    const publicKey = createPublicKey({ key: { ...jwkOf(text) }, format: 'jwk' })
    const key = pieceKey(diffieHellman({ privateKey, publicKey }), point, recipientPoint)
    keys.set(text, key)
    return key
  }
  return {
    open: async (name, sealed, mostBytes) => {
      try {
        if (sealed.length <= HEADER_BYTES + TAG_BYTES || !sealed.subarray(0, MAGIC.length).equals(MAGIC)) {
          throw new RangeError('not a piece')
        }
        const header = sealed.subarray(0, HEADER_BYTES)
        const key = keyOf(header.subarray(MAGIC.length, MAGIC.length + POINT_BYTES))
        const decipher = createDecipheriv(CIPHER, key, nonceOf(header.subarray(-NUMBER_BYTES)))
        decipher.setAAD(associated(header, name)).setAuthTag(sealed.subarray(-TAG_BYTES))
        const plain = decipher.update(sealed.subarray(HEADER_BYTES, -TAG_BYTES))
        decipher.final()
        return await unpacked(plain, mostBytes)
      } catch (cause) {
        throw new PieceBroken(`${name} was changed, is another piece, or is encrypted to another key`, { cause })
      }
    },
  }
}

/** Both public points are in the derivation (as in RFC 9180), so that a secret belongs to one recipient. */
function pieceKey(secret: Buffer, point: Buffer, recipient: Buffer): Buffer {
  const salt = Buffer.concat([point, recipient])
  return Buffer.from(hkdfSync('sha256', secret, salt, KEY_LABEL, KEY_BYTES))
}

function nonceOf(number: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(4), number])
}

function associated(header: Buffer, name: string): Buffer {
  return Buffer.concat([header, Buffer.from(name, 'utf8')])
}

async function packed(content: Uint8Array): Promise<readonly [form: number, body: Uint8Array]> {
  const middle = Math.max(0, Math.floor((content.length - SAMPLE_BYTES) / 2))
  const sample = content.subarray(middle, middle + SAMPLE_BYTES)
  if (deflateRawSync(sample, LEVEL).length > sample.length * WORTH_COMPRESSING) return [PLAIN, content]
  return [COMPRESSED, await compress(content, LEVEL)]
}

async function unpacked(plain: Buffer, mostBytes: number): Promise<Buffer> {
  const [form] = plain
  const body = plain.subarray(1)
  if (form === COMPRESSED) return decompress(body, { maxOutputLength: mostBytes })
  if (form !== PLAIN || body.length > mostBytes) throw new RangeError('not the content of a piece')
  return body
}
