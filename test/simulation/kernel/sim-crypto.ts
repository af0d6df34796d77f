/**
 * WebCrypto inside a simulation, where no thread pool takes part (K2): each call is computed at once. Signatures of notes are
 * digests in the form of Ed25519 signatures. Anyone with a public key could forge them; only the simulated attacker does.
 */
import { hash } from 'node:crypto'

/** 64 bytes. */
export function simNoteSignature(publicKey: Uint8Array, text: string): Uint8Array<ArrayBuffer> {
  const name = Buffer.from(publicKey).toString('hex')
  return new Uint8Array(hash('sha512', `${name}\n${text}`, 'buffer'))
}

const SUBTLE = {
  digest: async (_: string, bytes: Uint8Array) => new Uint8Array(hash('sha256', bytes, 'buffer')).buffer,
  importKey: async (_: string, publicKey: Uint8Array) => publicKey,
  verify: async (_: string, publicKey: Uint8Array, signature: Uint8Array, text: Uint8Array) =>
    Buffer.from(signature).equals(simNoteSignature(publicKey, Buffer.from(text).toString('utf8'))),
}

/** Until `restoreCrypto`. */
export function simulateCrypto(): void {
  Object.defineProperty(globalThis.crypto, 'subtle', { value: SUBTLE, configurable: true })
}

export function restoreCrypto(): void {
  Reflect.deleteProperty(globalThis.crypto, 'subtle')
}
