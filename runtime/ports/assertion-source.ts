/**
 * Assertions about the ledger, computed from its present state (D12). The edge signs them. One run of a kind is active
 * at a time; a request shares only the result of a run that began after the request. Every failure is an
 * `AssertionUnavailable`.
 */
import type { Hash } from '../../actors/audit-chain.ts'
import type { TokenProof, TokenTotal } from '../liabilities/inclusion.ts'

export interface AssertionSource {
  /**
   * Throws `AssertionUnavailable` when the totals do not reconcile. If earlier runs fill the storage limit, returns the
   * latest run again; `asOfMs` is its time.
   */
  readonly liabilities: () => Promise<Liabilities>
  readonly provenance: () => Promise<ProvenanceFindings>
  readonly compliance: () => Promise<ComplianceFindings>
  /** For runs of the last 24 hours; undefined without such a run. */
  readonly liabilityProof: (question: LiabilityProofQuestion) => Promise<LiabilityProof | undefined>
}

/** Totals in minimal form; they may have 38 integer digits. */
export interface Liabilities {
  readonly totalLiabilities: string
  /** Tokens with a liability, in byte order of their IDs. */
  readonly byToken: readonly { readonly tokenId: string; readonly total: string }[]
  /** 64 hexadecimal digits. */
  readonly merkleRoot: Hash
  /** The moment of the snapshot. */
  readonly asOfMs: number
}

export interface LiabilityProofQuestion {
  readonly accountId: string
  /** 64 hexadecimal digits, or null for the latest run. */
  readonly merkleRoot: Hash | null
  /** The token to continue after; null for the first page. */
  readonly after: string | null
  /** Limit on the number of tokens. */
  readonly limit: number
}

/** Liabilities towards one account in a run, by token. */
export interface LiabilityProof {
  readonly liabilities: Liabilities
  /** All totals: the input of `merkleRoot`. */
  readonly totals: readonly TokenTotal[]
  /** Empty if the account was owed nothing. */
  readonly proofs: readonly TokenProof[]
  /** The token to continue after; null on the last page. */
  readonly next: string | null
}

export interface ProvenanceFindings {
  readonly assetsVerified: number
  readonly provenanceValid: boolean
  readonly asOfMs: number
  /** null: no full pass yet. */
  readonly lastFullPassAtMs: number | null
}

export interface ComplianceFindings {
  /** Every control passed, and at least one ran. */
  readonly compliant: boolean
  readonly frameworks: readonly string[]
  readonly controls: readonly ControlOutcome[]
  readonly asOfMs: number
  readonly lastFullPassAtMs: number | null
}

export interface ControlOutcome {
  /** Such as `chains_verify`. */
  readonly name: string
  readonly passed: boolean
  /** Number of items checked. */
  readonly checked: number
  /** Number of items that failed. */
  readonly failed: number
}

/** The limit that ended a proof of liabilities. `balances`: null if the time limit passed before the count ended. */
export type ExceededLimit =
  | { readonly kind: 'balances'; readonly balances: number; readonly maxBalances: number }
  | { readonly kind: 'time'; readonly balances: number | null; readonly limitMs: number }

export class AssertionUnavailable extends Error {
  override readonly name = 'AssertionUnavailable'
  /** Set if the ledger is too large for the proof: a retry alone does not help. */
  readonly exceeded: ExceededLimit | undefined

  constructor(message: string, { exceeded, ...options }: ErrorOptions & { readonly exceeded?: ExceededLimit } = {}) {
    super(message, options)
    this.exceeded = exceeded
  }
}
