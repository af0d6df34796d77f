/** The key with which the ledger signs the heads of its log. It follows from the root secret: each edge has the same. */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { checkpointText, type LogHead } from '../../api/client/log/checkpoint.ts'
import { type NoteKey, noteKey, type NoteKeyKind, type SignedNote } from '../../api/client/log/signed-note.ts'

export interface NoteSigner {
  readonly key: NoteKey
  /** 64 bytes of Ed25519. */
  readonly sign: (text: string) => Uint8Array<ArrayBuffer>
}

/** Beginning of a PKCS#8 key of Ed25519 (RFC 8410); the seed follows. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** `seed`: 32 secret bytes. Throws a RangeError for an impossible name. */
export async function createNoteSigner(name: string, kind: NoteKeyKind, seed: Buffer): Promise<NoteSigner> {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return {
    key: await noteKey(name, kind, new Uint8Array(Buffer.from(x, 'base64url'))),
    sign: (text) => new Uint8Array(sign(null, Buffer.from(text), key)),
  }
}

/** The head with the log's own signature. */
export function signedHead({ key, sign: signText }: NoteSigner, head: Omit<LogHead, 'origin'>): SignedNote {
  const text = checkpointText({ ...head, origin: key.name })
  return { text, signatures: [{ name: key.name, keyId: key.id, bytes: signText(text) }] }
}
