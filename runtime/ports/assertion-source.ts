/**
 * Assertions about the ledger, computed from its present state (D12). The edge signs them.
 * One run of a kind at a time: whoever asks while one is under way shares the next one's or this one's result only if it
 * began after the question came. Every failure is an `AssertionUnavailable`.
 */
import type { Hash } from '../../actors/audit-chain.ts'
import type { TokenProof, TokenTotal } from '../liabilities/inclusion.ts'

export interface AssertionSource {
  /**
   * Throws `AssertionUnavailable` when the totals do not reconcile. Where so many runs were asked for that what they
   * leave behind takes up all the room there is for it, the latest is given again; `asOfMs` says its moment.
   */
  readonly liabilities: () => Promise<Liabilities>
  readonly provenance: () => Promise<ProvenanceFindings>
  readonly compliance: () => Promise<ComplianceFindings>
  /** Of runs of the last 24 hours; undefined when there is no such run. */
  readonly liabilityProof: (question: LiabilityProofQuestion) => Promise<LiabilityProof | undefined>
}

/** Totals in minimal form; they may have 38 integer digits. */
export interface Liabilities {
  readonly totalLiabilities: string
  /** Of what anything is owed, in the order of their bytes. */
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
  /** The token to go on after; null for the first. */
  readonly after: string | null
  /** How many tokens at most. */
  readonly limit: number
}

/** Liabilities towards one account in a run, by token. */
export interface LiabilityProof {
  readonly liabilities: Liabilities
  /** All of them: what `merkleRoot` is made of. */
  readonly totals: readonly TokenTotal[]
  /** None when the account was owed nothing. */
  readonly proofs: readonly TokenProof[]
  /** The token to go on after; null: nothing follows. */
  readonly next: string | null
}

export interface ProvenanceFindings {
  readonly assetsVerified: number
  readonly provenanceValid: boolean
  readonly asOfMs: number
  /** null: there has been none. */
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
  /** As `chains_verify`. */
  readonly name: string
  readonly passed: boolean
  /** How many things were looked at. */
  readonly checked: number
  /** How many of them were wrong. */
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
