/**
 * The keys of one token, used by several sessions at once.
 *   T1. Private and secret keys are created sensitive and not extractable: they never leave the token.
 *   T2. A session that failed is not used again: the caller ends the process.
 *   T3. Exactly one key has a label: with two of them, none is used.
 */
import { invariant } from '../../../actors/result.ts'
import { createSlots } from '../../../runtime/common/slots.ts'
import {
  type Attribute,
  CKA_CLASS,
  CKA_EC_PARAMS,
  CKA_EC_POINT,
  CKA_EXTRACTABLE,
  CKA_KEY_TYPE,
  CKA_LABEL,
  CKA_PRIVATE,
  CKA_SENSITIVE,
  CKA_SIGN,
  CKA_TOKEN,
  CKA_VALUE_LEN,
  CKA_VERIFY,
  CKF_RW_SESSION,
  CKF_SERIAL_SESSION,
  CKK_GENERIC_SECRET,
  CKM_EC_KEY_PAIR_GEN,
  CKM_ECDSA,
  CKM_GENERIC_SECRET_KEY_GEN,
  CKM_SHA256_HMAC,
  CKO_PRIVATE_KEY,
  CKO_PUBLIC_KEY,
  CKO_SECRET_KEY,
  CKR_USER_ALREADY_LOGGED_IN,
  CKU_USER,
  type Cryptoki,
  CryptokiFailed,
} from './cryptoki.ts'

export interface Token {
  readonly hasKey: (label: string, kind: KeyKind) => boolean
  /** HMAC-SHA-256, 32 bytes. */
  readonly mac: (label: string, data: Buffer) => Promise<Buffer>
  /** ECDSA on P-256 over a digest of 32 bytes: r||s, 64 bytes. */
  readonly sign: (label: string, digest: Buffer) => Promise<Buffer>
  /** Uncompressed SEC1 point. */
  readonly publicKey: (label: string) => Buffer
  readonly createKey: (label: string, kind: KeyKind) => void
}

/** `mac`: a master key. `sign`: a P-256 key pair. */
export const KEY_KINDS = ['mac', 'sign'] as const
export type KeyKind = (typeof KEY_KINDS)[number]

/** `code`: of the protocol (../outside/key-protocol.ts). */
export class TokenUnusable extends Error {
  override readonly name = 'TokenUnusable'
  readonly code: 'token_not_found' | 'key_not_found' | 'key_not_unique' | 'key_not_suitable'

  constructor(code: TokenUnusable['code'], message: string) {
    super(message)
    this.code = code
  }
}

const MAX_WAITING = 10_000
const LABEL_BYTES = 32
const TOKEN_INFO_BYTES = 512
const MAC_BYTES = 32
const SIGNATURE_BYTES = 64
/** DER: an OCTET STRING of 65 bytes, of which 0x04 is the first. */
const POINT_HEADER = Buffer.of(0x04, 65)
const POINT_START = 0x04
const POINT_BYTES = 65
const MAX_POINT_BYTES = 256
/** DER of the object identifier prime256v1. */
const P256 = Buffer.from('06082a8648ce3d030107', 'hex')

/** Throws TokenUnusable and CryptokiFailed. `sessions`: how many operations run at once. */
export function openToken(cryptoki: Cryptoki, label: string, pin: string, sessions: number): Token {
  const slot = slotOf(cryptoki, label)
  const first = openSession(cryptoki, slot)
  login(cryptoki, first, pin)
  // `first` only looks keys up: a session does one thing at a time.
  const free = Array.from({ length: sessions }, () => openSession(cryptoki, slot))
  const slots = createSlots({ concurrency: sessions, maxWaiting: MAX_WAITING })
  const handles = new Map<string, number>()
  const keyOf = (object: string, type: number): number => {
    const known = handles.get(`${type} ${object}`)
    if (known !== undefined) return known
    const [found, ...others] = findAll(cryptoki, first, object, type)
    if (found === undefined) throw new TokenUnusable('key_not_found', `token ${label} has no such key ${object}`)
    if (others.length > 0) throw new TokenUnusable('key_not_unique', `token ${label} has several keys ${object}`)
    handles.set(`${type} ${object}`, found)
    return found
  }
  const signed = (key: number, mechanism: number, data: Buffer, bytes: number): Promise<Buffer> =>
    slots.run(async () => {
      const session = free.pop()
      invariant(session !== undefined, 'a slot has a session')
      await cryptoki.later('signInit', session, cryptoki.mechanismOf(mechanism), key)
      const output = Buffer.alloc(bytes)
      const length = [bytes]
      await cryptoki.later('sign', session, data, data.length, output, length)
      free.push(session)
      if (length[0] !== bytes)
        throw new TokenUnusable('key_not_suitable', `token ${label} signs with ${length[0]} bytes`)
      return output
    })
  return {
    hasKey: (object, kind) =>
      findAll(cryptoki, first, object, kind === 'mac' ? CKO_SECRET_KEY : CKO_PRIVATE_KEY).length > 0,
    mac: (object, data) => signed(keyOf(object, CKO_SECRET_KEY), CKM_SHA256_HMAC, data, MAC_BYTES),
    sign: (object, digest) => signed(keyOf(object, CKO_PRIVATE_KEY), CKM_ECDSA, digest, SIGNATURE_BYTES),
    publicKey: (object) => pointOf(cryptoki, first, keyOf(object, CKO_PUBLIC_KEY)),
    createKey: (object, kind) => createKey(cryptoki, first, object, kind),
  }
}

function slotOf(cryptoki: Cryptoki, label: string): number {
  const count = [0]
  cryptoki.call('slots', 1, null, count)
  const slots = new BigUint64Array(count[0] ?? 0)
  cryptoki.call('slots', 1, slots, count)
  const info = Buffer.alloc(TOKEN_INFO_BYTES)
  for (const slot of slots) {
    cryptoki.call('tokenInfo', Number(slot), info)
    // Blanks fill the label up.
    if (info.subarray(0, LABEL_BYTES).toString('utf8').trimEnd() === label) return Number(slot)
  }
  throw new TokenUnusable('token_not_found', `no slot has a token ${label}`)
}

function openSession(cryptoki: Cryptoki, slot: number): number {
  const session = [0]
  cryptoki.call('open', slot, CKF_SERIAL_SESSION + CKF_RW_SESSION, null, null, session)
  return session[0] ?? 0
}

/** A login holds for all sessions of the process. */
function login(cryptoki: Cryptoki, session: number, pin: string): void {
  const bytes = Buffer.from(pin, 'utf8')
  try {
    cryptoki.call('login', session, CKU_USER, bytes, bytes.length)
  } catch (error) {
    if (!(error instanceof CryptokiFailed) || error.code !== CKR_USER_ALREADY_LOGGED_IN) throw error
  } finally {
    bytes.fill(0)
  }
}

/** Up to two handles. */
function findAll(cryptoki: Cryptoki, session: number, label: string, type: number): readonly number[] {
  const template = cryptoki.attributesOf([
    [CKA_CLASS, type],
    [CKA_LABEL, Buffer.from(label, 'utf8')],
  ])
  const found = new BigUint64Array(2)
  const count = [0]
  cryptoki.call('findInit', session, template, template.length)
  try {
    cryptoki.call('find', session, found, found.length, count)
  } finally {
    cryptoki.call('findFinal', session)
  }
  return [...found.subarray(0, count[0])].map(Number)
}

function pointOf(cryptoki: Cryptoki, session: number, key: number): Buffer {
  const [attribute] = cryptoki.attributesOf([[CKA_EC_POINT, Buffer.alloc(MAX_POINT_BYTES)]])
  const read = [{ ...attribute }]
  const bytes = attribute?.pValue ?? Buffer.alloc(0)
  cryptoki.call('attributes', session, key, read, read.length)
  // Some modules give the point without the OCTET STRING around it.
  const isWrapped =
    bytes.subarray(0, POINT_HEADER.length).equals(POINT_HEADER) && bytes[POINT_HEADER.length] === POINT_START
  const point = isWrapped ? bytes.subarray(POINT_HEADER.length) : bytes
  return point.subarray(0, POINT_BYTES)
}

/** T1. */
function createKey(cryptoki: Cryptoki, session: number, label: string, kind: KeyKind): void {
  const named: Attribute = [CKA_LABEL, Buffer.from(label, 'utf8')]
  const secret = cryptoki.attributesOf([
    named,
    [CKA_TOKEN, true],
    [CKA_PRIVATE, true],
    [CKA_SENSITIVE, true],
    [CKA_EXTRACTABLE, false],
    [CKA_SIGN, true],
    ...(kind === 'sign' ? [] : macAttributes()),
  ])
  const [handle, publicHandle] = [[0], [0]]
  if (kind === 'mac') {
    const mechanism = cryptoki.mechanismOf(CKM_GENERIC_SECRET_KEY_GEN)
    cryptoki.call('generateKey', session, mechanism, secret, secret.length, handle)
    return
  }
  const open = cryptoki.attributesOf([named, [CKA_TOKEN, true], [CKA_VERIFY, true], [CKA_EC_PARAMS, P256]])
  const mechanism = cryptoki.mechanismOf(CKM_EC_KEY_PAIR_GEN)
  cryptoki.call('generateKeyPair', session, mechanism, open, open.length, secret, secret.length, publicHandle, handle)
}

function macAttributes(): readonly Attribute[] {
  return [
    [CKA_CLASS, CKO_SECRET_KEY],
    [CKA_KEY_TYPE, CKK_GENERIC_SECRET],
    [CKA_VALUE_LEN, MAC_BYTES],
  ]
}
