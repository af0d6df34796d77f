/**
 * Imports: what other ledgers signed over to this one (D20), in parts.
 *   Z1. What a call tells of is stored: it resolves after the commit, never before.
 *   Z2. A part is stored whole or not at all, in order, once; the same part again gets the same answer.
 *   Z3. Of an import everything is taken in, once, or nothing: until it is decided that it is taken, homes may refuse.
 *   Z4. Whatever ends on the way, what was begun is ended by whoever looks next, the one way or the other.
 * Every failure is a `LedgerImportsUnavailable`: it does not say whether a call took effect, and each may be made again.
 */
import type { Caller } from '../../actors/account/commands.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import type { ImportKey } from './service-keys.ts'

export interface LedgerImports {
  /** The current key, to which other ledgers encrypt. */
  readonly key: () => ImportKey
  /**
   * Takes in one part; the last one also decides what becomes of the import. That may take longer than is waited for: asked
   * again, it says how far it is.
   */
  readonly take: (part: ImportPart) => Promise<ImportOutcome>
  /** undefined: there is none. `importId`: in lower case. */
  readonly status: (importId: string) => Promise<ImportStatus | undefined>
}

export interface ImportPart {
  /** A UUID in lower case. */
  readonly importId: string
  /** From 0. */
  readonly part: number
  /** At least one. */
  readonly records: readonly GivenRecord[]
  readonly last: boolean
  readonly caller: Caller
}

export interface GivenRecord {
  /** As it came. */
  readonly record: JsonObject
  /** Whether it has the shape of its kind. Where one has not, nothing is stored: what else is wrong is told, no more. */
  readonly wellFormed: boolean
}

/** `done` and `total` count steps of unequal size. */
export type ImportOutcome =
  | { readonly kind: 'staged'; readonly nextPart: number; readonly lines: number }
  | {
      readonly kind: 'under_way'
      readonly phase: UnfinishedPhase
      readonly done: number
      readonly total: number
    }
  | { readonly kind: 'done'; readonly summary: ImportSummary }
  | ImportRefusal
  /** Of the part itself: nothing was stored. */
  | { readonly kind: 'conflict'; readonly field: string; readonly detail: string }

export type UnfinishedPhase = 'checking' | 'applying' | 'taking' | 'refusing'

/** How many records of each kind there are, and how many of all were here already. */
export interface ImportSummary {
  readonly accounts: number
  readonly tokens: number
  readonly nftClasses: number
  readonly nftInstances: number
  readonly attestations: number
  readonly present: number
}

/**
 *   `invalid`: `faults` says in what, at least one. `untrusted`: this ledger does not take what this key, or ledger, signed.
 *   `mismatch`: the signature is not by the key that is named. `exists`: a home has something else of that name, or no room.
 */
export type ImportRefusal =
  | { readonly kind: 'invalid'; readonly faults: readonly ImportFault[] }
  | { readonly kind: 'untrusted' | 'exists'; readonly field: string; readonly detail: string }
  | {
      readonly kind: 'mismatch'
      readonly field: string
      readonly detail: string
      /** The key that the signature was checked against. */
      readonly signed: { readonly keyId: string; readonly payloadHash: string }
    }

/** The fault of one field of one record. */
export interface ImportFault {
  readonly code: ImportFaultCode
  /** `records[3].balances[0].encrypted_balance` of the part, or `lines[17].issuer` of all of it. */
  readonly field: string
  readonly message: string
}

export const IMPORT_FAULT_CODES = [
  'field',
  'balance',
  'wrong_ledger',
  'total_supply',
  'proof_hash',
  'signature',
  'class_id',
  'issuer',
  'account_id',
  'symbol',
  'token_id',
] as const
export type ImportFaultCode = (typeof IMPORT_FAULT_CODES)[number]

export type ImportStatus =
  | { readonly phase: 'staging'; readonly nextPart: number; readonly lines: number }
  | {
      readonly phase: UnfinishedPhase
      readonly nextPart: number
      readonly lines: number
      readonly done: number
      readonly total: number
    }
  | { readonly phase: 'done'; readonly nextPart: number; readonly lines: number; readonly summary: ImportSummary }
  | { readonly phase: 'refused'; readonly nextPart: number; readonly lines: number; readonly refusal: ImportRefusal }

export class LedgerImportsUnavailable extends Error {
  override readonly name = 'LedgerImportsUnavailable'
}
