/**
 * The log of the ledger as anybody may read it, and the proofs of its entries.
 * Every failure is a `LogStoreUnavailable`.
 */

export interface LedgerLog {
  /** The key of the log with its name, as text of C2SP (vkey). */
  readonly verifierKey: string
  /** The published head, a signed note; undefined before the first. */
  readonly checkpoint: () => Promise<string | undefined>
  /** Hashes or entries of the published log; undefined if it has no such tile. */
  readonly tile: (address: TileAddress) => Promise<Uint8Array | undefined>
  /**
   * Log key of an account: 32 bytes. The salts of its entries follow from it (api/client/log/log-entry.ts). Any account ID
   * has one.
   */
  readonly accountKey: (accountId: string) => Uint8Array
  /** Of an entry of an account's chain; undefined if there is no such entry, or the account was erased. */
  readonly proof: (accountId: string, sequence: number) => Promise<LedgerLogProof | undefined>
}

export type LedgerLogProof =
  /** In the form of C2SP. */
  | { readonly kind: 'proved'; readonly text: string }
  /** The published log does not have the entry yet. */
  | { readonly kind: 'pending' }
  /** The log has entries of later commits, but not this one: the entry or the log was changed. */
  | { readonly kind: 'lacking' }

export interface TileAddress {
  /** `entries`: the entries themselves. */
  readonly level: number | 'entries'
  readonly number: number
  /** Number of hashes or entries, from 1 to 256. */
  readonly width: number
}
