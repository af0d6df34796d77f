/**
 * Imports of signed exports of other ledgers (D20), in parts.
 *   Z1. A call resolves after its commit: its result is stored.
 *   Z2. A part is stored whole or not at all, in order, once; the same part again gets the same reply.
 *   Z3. An import is applied whole, once, or not at all: homes may refuse until the decision to apply it.
 *   Z4. After a crash, the next process to find an unfinished import applies or drops it.
 * Every failure is a `LedgerImportsUnavailable`; the call's effect is then unknown, and the call may be repeated.
 */
import type { Caller } from '../../actors/account/commands.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import type { ImportKey } from './service-keys.ts'

export interface LedgerImports {
  /** The current encryption key for exports of other ledgers. */
  readonly key: () => ImportKey
  /**
   * Stores one part; the last one also decides the import, which may outlast the call: repeating the call shows the
   * progress.
   */
  readonly take: (part: ImportPart) => Promise<ImportOutcome>
  /** undefined: no such import. `importId`: in lower case. */
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
  readonly record: JsonObject
  /**
   * Whether it has the shape of its kind. If any record has not, nothing is stored and only further faults are
   * reported.
   */
  readonly wellFormed: boolean
}

/** `conflict`: a conflict of the part itself: nothing was stored. */
export type ImportOutcome =
  | ImportStatus
  | ImportRefusal
  | { readonly kind: 'conflict'; readonly field: string; readonly detail: string }

export interface ImportStatus {
  readonly phase: 'staging' | 'checking' | 'applying' | 'taking' | 'refusing' | 'done' | 'refused'
  readonly nextPart: number
  readonly lines: number
  /** `done` and `total` count steps of unequal size. */
  readonly done: number
  readonly total: number
  /** Of an import that is done. */
  readonly summary: ImportSummary | null
  /** Of a refused import. */
  readonly refusal: ImportRefusal | null
}

/** Number of records of each kind, and of all records that were already present. */
export interface ImportSummary {
  readonly accounts: number
  readonly tokens: number
  readonly nftClasses: number
  readonly nftInstances: number
  readonly attestations: number
  readonly present: number
}

/**
 *   `invalid`: `faults` lists at least one fault. `untrusted`: this ledger does not trust the signing key or ledger.
 *   `mismatch`: the named key did not make the signature. `exists`: a home has a different record of that name, or no
 *   room.
 */
export type ImportRefusal =
  | { readonly kind: 'invalid'; readonly faults: readonly ImportFault[] }
  | { readonly kind: 'untrusted' | 'exists'; readonly field: string; readonly detail: string }
  | {
      readonly kind: 'mismatch'
      readonly field: string
      readonly detail: string
      /** The key and payload hash of the failed signature check. */
      readonly signed: { readonly keyId: string; readonly payloadHash: string }
    }

/** The fault of one field of one record. */
export interface ImportFault {
  readonly code: ImportFaultCode
  /** `records[3].balances[0].encrypted_balance` of the part, or `lines[17].issuer` of the whole import. */
  readonly field: string
  readonly message: string
}

export type ImportFaultCode =
  | 'field'
  | 'balance'
  | 'wrong_ledger'
  | 'total_supply'
  | 'proof_hash'
  | 'signature'
  | 'class_id'
  | 'issuer'
  | 'account_id'
  | 'symbol'
  | 'token_id'

export class LedgerImportsUnavailable extends Error {
  override readonly name = 'LedgerImportsUnavailable'
}
