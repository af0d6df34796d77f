/**
 * The service's own P-256 keys, each with one purpose and a span. Published keys stay published, so that what they
 * signed can be checked for ever.
 */
export const KEY_PURPOSES = ['token', 'receipt', 'assertion', 'attestation'] as const
export type KeyPurpose = (typeof KEY_PURPOSES)[number]

/** Those that sign nothing, and are not published, beside them: to `import` others encrypt what this ledger is to take in. */
export const SERVICE_KEY_PURPOSES = [...KEY_PURPOSES, 'import'] as const
export type ServiceKeyPurpose = (typeof SERVICE_KEY_PURPOSES)[number]

export interface ServiceKeys {
  /** Every public key, as the JWKS document shows it. */
  readonly published: () => readonly PublishedKey[]
  /** The key that signs for this purpose now, or what is dated so (milliseconds since 1970). */
  readonly current: (purpose: KeyPurpose, datedMs?: number) => string
  /** base64 DER, ECDSA P-256 with SHA-256 over the text's UTF-8. */
  readonly sign: (keyId: string, payloads: readonly string[]) => Promise<readonly string[]>
}

export interface PublishedKey {
  /** RFC 7638 thumbprint. */
  readonly keyId: string
  readonly purpose: KeyPurpose
  /** The point's coordinates, base64url. */
  readonly x: string
  readonly y: string
  readonly activeFromMs: number
  /** null while it is, or will be, in use. */
  readonly retiredAtMs: number | null
  /** Not null: nothing that it ever signed counts any more, and it signs nothing. */
  readonly revokedAtMs: number | null
}

/** Decrypts files of other ledgers. A retired key still decrypts, so that a file in transit stays valid. */
export interface ImportKeys {
  /** To encrypt to from now on. */
  readonly current: () => ImportKey
  /** A quantity above zero in minimal form; undefined when it does not open, or is of something else. */
  readonly openBalance: (
    of: { readonly accountId: string; readonly tokenId: string },
    jwe: string,
  ) => string | undefined
  /** 32 hexadecimal digits; undefined when it does not open. */
  readonly openKeySalt: (jwe: string) => string | undefined
}

/** See `PublishedKey`. */
export interface ImportKey {
  readonly keyId: string
  readonly x: string
  readonly y: string
}
