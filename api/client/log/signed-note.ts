/**
 * Signed notes of C2SP: a text, and signatures of it by named keys. https://c2sp.org/signed-note
 *   N1. A signature by an unknown key is ignored. A signature by a known key that does not verify spoils the note.
 *   N2. A note, a signature and a key have one encoding. Another one is malformed.
 */
import { base64, type Bytes, concat, fromBase64, hex, sha256, utf8 } from '../signing/bytes.ts'

/** Algorithm of a key. `log`: Ed25519 over the text. `witness`: Ed25519 over a time and the text (C2SP tlog-cosignature). */
export type NoteKeyKind = 'log' | 'witness'

/** A public key with its name: a "vkey" of C2SP. */
export interface NoteKey {
  readonly name: string
  /** Eight hexadecimal digits. */
  readonly id: string
  readonly kind: NoteKeyKind
  /** 32 bytes of Ed25519. */
  readonly publicKey: Bytes
}

export interface NoteSignature {
  readonly name: string
  /** Eight hexadecimal digits. */
  readonly keyId: string
  readonly bytes: Bytes
}

export interface SignedNote {
  /** With its final newline. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

export interface VerifiedSignature {
  readonly key: NoteKey
  /** Milliseconds since 1970; undefined for a signature without a time. */
  readonly atMs: number | undefined
}

/** Without the algorithm nothing of the log can be verified, which must not look like a wrong signature. */
export class Ed25519Missing extends Error {
  override readonly name = 'Ed25519Missing'

  constructor(options: ErrorOptions) {
    super('WebCrypto has no Ed25519 here: Node.js 20, Chromium 137, Firefox 129 and Safari 17 have it.', options)
  }
}

const TYPES: Readonly<Record<NoteKeyKind, number>> = { log: 1, witness: 4 }
const ML_DSA_44 = 6
const KEY_ID_BYTES = 4
const PUBLIC_KEY_BYTES = 32
const SIGNATURE_BYTES = 64
const TIME_BYTES = 8
const ED25519 = 'Ed25519'
/** More than any note of a log with witnesses has. */
const LONGEST_NOTE = 65_536
export const MOST_SIGNATURES = 64
const NAME = /^[^\s+\u0085]+$/u
const VKEY = /^([^\s+\u0085]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/u
const SIGNATURE_LINE = /^\u2014 ([^\s+\u0085]+) ([A-Za-z0-9+/]+={0,2})$/u

/** Undefined for a malformed note. */
export function parseNote(note: string): SignedNote | undefined {
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n') || note.length > LONGEST_NOTE || hasControls(note)) return undefined
  const lines = note.slice(end + 2, -1).split('\n')
  if (lines.length > MOST_SIGNATURES) return undefined
  const signatures = lines.map(signatureOf)
  if (!signatures.every((signature) => signature !== undefined)) return undefined
  return { text: note.slice(0, end + 1), signatures }
}

/** Apart from newlines. */
function hasControls(text: string): boolean {
  return Array.from(text).some((character) => character < ' ' && character !== '\n')
}

/** A line with one signature; undefined for a malformed one. */
export function signatureOf(line: string): NoteSignature | undefined {
  const [, name, encoded] = SIGNATURE_LINE.exec(line) ?? []
  const bytes = encoded === undefined ? undefined : strictBase64(encoded)
  if (name === undefined || bytes === undefined || bytes.length <= KEY_ID_BYTES) return undefined
  return { name, keyId: hex(bytes.slice(0, KEY_ID_BYTES)), bytes: bytes.slice(KEY_ID_BYTES) }
}

/** Ends with a newline. */
export function signatureLine({ name, keyId, bytes }: NoteSignature): string {
  const id = Uint8Array.from(keyId.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))
  return `\u2014 ${name} ${base64(concat(id, bytes))}\n`
}

export function noteText({ text, signatures }: SignedNote): string {
  return `${text}\n${signatures.map(signatureLine).join('')}`
}

/** Throws a RangeError for an impossible name or public key. */
export async function noteKey(name: string, kind: NoteKeyKind, publicKey: Bytes): Promise<NoteKey> {
  if (!NAME.test(name)) throw new RangeError('a key has a name without spaces and plus signs')
  if (publicKey.length !== PUBLIC_KEY_BYTES) throw new RangeError('a key of Ed25519 has 32 bytes')
  const hashed = await sha256(concat(utf8(`${name}\n`), Uint8Array.of(TYPES[kind]), publicKey))
  return { name, id: hex(hashed.slice(0, KEY_ID_BYTES)), kind, publicKey }
}

export function verifierKeyText({ name, id, kind, publicKey }: NoteKey): string {
  return `${name}+${id}+${base64(concat(Uint8Array.of(TYPES[kind]), publicKey))}`
}

/** Undefined for a malformed key, an unknown algorithm, and an ID of another key. */
export async function parseVerifierKey(text: string): Promise<NoteKey | undefined> {
  const [, name, id, encoded] = VKEY.exec(text) ?? []
  const bytes = encoded === undefined ? undefined : strictBase64(encoded)
  const kind = bytes?.[0] === TYPES.log ? 'log' : bytes?.[0] === TYPES.witness ? 'witness' : undefined
  if (name === undefined || bytes?.length !== 1 + PUBLIC_KEY_BYTES || kind === undefined) return undefined
  const key = await noteKey(name, kind, bytes.slice(1))
  return key.id === id ? key : undefined
}

/** Algorithm of a key that cannot be used here, such as `0x06 (ML-DSA-44)`. Undefined for Ed25519 and a malformed key. */
export function unknownAlgorithm(text: string): string | undefined {
  const type = strictBase64(VKEY.exec(text)?.[3] ?? '')?.[0]
  if (type === undefined || Object.values(TYPES).includes(type)) return undefined
  return `0x${hex(Uint8Array.of(type))}${type === ML_DSA_44 ? ' (ML-DSA-44)' : ''}`
}

/** The known keys that signed the note; undefined if one of them did not (N1). Rejects with Ed25519Missing. */
export async function verifySignatures(
  { text, signatures }: SignedNote,
  keys: readonly NoteKey[],
): Promise<readonly VerifiedSignature[] | undefined> {
  const verified: VerifiedSignature[] = []
  for (const { name, keyId, bytes } of signatures) {
    const key = keys.find((known) => known.name === name && known.id === keyId)
    if (key === undefined) continue
    const found = await verifySignature(text, bytes, key)
    if (found === undefined) return undefined
    verified.push(found)
  }
  return verified
}

async function verifySignature(text: string, bytes: Bytes, key: NoteKey): Promise<VerifiedSignature | undefined> {
  if (key.kind === 'log') return (await isBy(key, bytes, text)) ? { key, atMs: undefined } : undefined
  if (bytes.length !== TIME_BYTES + SIGNATURE_BYTES) return undefined
  const seconds = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0)
  // Without a time it is the signature of a subtree (C2SP tlog-witness).
  if (seconds === 0n || seconds > BigInt(Number.MAX_SAFE_INTEGER) / 1_000n) return undefined
  const signed = cosignedText(text, Number(seconds))
  return (await isBy(key, bytes.slice(TIME_BYTES), signed)) ? { key, atMs: Number(seconds) * 1_000 } : undefined
}

/** The text under a witness's signature. `seconds`: since 1970. */
export function cosignedText(text: string, seconds: number): string {
  return `cosignature/v1\ntime ${seconds}\n${text}`
}

/** A witness's signature with its time. `signature`: 64 bytes over `cosignedText`. */
export function cosignatureBytes(seconds: number, signature: Bytes): Bytes {
  const time = new Uint8Array(TIME_BYTES)
  new DataView(time.buffer).setBigUint64(0, BigInt(seconds))
  return concat(time, signature)
}

async function isBy({ publicKey }: NoteKey, signature: Bytes, text: string): Promise<boolean> {
  if (signature.length !== SIGNATURE_BYTES) return false
  try {
    const key = await crypto.subtle.importKey('raw', publicKey, ED25519, false, ['verify'])
    return await crypto.subtle.verify(ED25519, key, signature, utf8(text))
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'NotSupportedError') throw new Ed25519Missing({ cause })
    return false
  }
}

/** Standard alphabet with padding, in its one encoding; undefined for any other text. */
export function strictBase64(text: string): Bytes | undefined {
  const bytes = fromBase64(text)
  return bytes !== undefined && base64(bytes) === text ? bytes : undefined
}
