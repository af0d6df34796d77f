/**
 * The service's own P-256 keys, each with one purpose and a period. Published keys stay published, so that their
 * signatures can always be verified.
 */
export const KEY_PURPOSES = ['token', 'receipt', 'assertion', 'attestation'] as const
export type KeyPurpose = (typeof KEY_PURPOSES)[number]

/** With unpublished keys that sign nothing: other ledgers encrypt exports for this one to `import`. */
export const SERVICE_KEY_PURPOSES = [...KEY_PURPOSES, 'import'] as const
export type ServiceKeyPurpose = (typeof SERVICE_KEY_PURPOSES)[number]

export interface ServiceKeys {
  /** Every public key in the JWKS document. */
  readonly published: () => readonly PublishedKey[]
  /** The key that signs for this purpose now, or at the given time (milliseconds since 1970). */
  readonly current: (purpose: KeyPurpose, datedMs?: number) => string
  /** base64 DER, ECDSA P-256 with SHA-256 over the text's UTF-8. */
  readonly sign: (keyId: string, payloads: readonly string[]) => Promise<readonly string[]>
}

export interface PublishedKey<Purpose extends string = KeyPurpose> {
  /** RFC 7638 thumbprint. */
  readonly keyId: string
  readonly purpose: Purpose
  /** The point's coordinates, base64url. */
  readonly x: string
  readonly y: string
  readonly activeFromMs: number
  /** null until it is retired. */
  readonly retiredAtMs: number | null
  /** Not null: none of its signatures counts any more, and it signs nothing. */
  readonly revokedAtMs: number | null
}

/** Decrypts files of other ledgers. A retired key still decrypts, so that a file in transit stays valid. */
export interface ImportKeys {
  /** The current encryption key. */
  readonly current: () => ImportKey
  /** A quantity above zero in minimal form; undefined if it does not decrypt, or is another balance. */
  readonly openBalance: (
    of: { readonly accountId: string; readonly tokenId: string },
    jwe: string,
  ) => string | undefined
  /** 32 hexadecimal digits; undefined if it does not decrypt. */
  readonly openKeySalt: (jwe: string) => string | undefined
}

/** See `PublishedKey`. */
export interface ImportKey {
  readonly keyId: string
  readonly x: string
  readonly y: string
}
