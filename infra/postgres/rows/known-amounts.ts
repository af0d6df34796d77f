/**
 * Amounts of transactions that were opened for a search by amount. An amount never changes, and the next search looks at
 * much the same rows: opening 5,000 of them takes most of its time.
 *   K1. So many at most, and none for longer than data keys are kept (key-cache.ts).
 *   K2. They say nothing of a row that the database does not show, nor of an account that was erased: who asks looks.
 */

export interface KnownAmount {
  /** Of the account: what stands for it in tables. */
  readonly ref: string
  /** A decimal string. */
  readonly amount: string
}

export interface KnownAmounts {
  readonly get: (txnId: string) => KnownAmount | undefined
  readonly put: (txnId: string, known: KnownAmount) => void
  /** Forgets what was there at the last turn. */
  readonly turn: () => void
}

/** Of each of two generations; some 200 bytes each. */
const MOST = 20_000
const TURN_MS = 5 * 60_000

export function createKnownAmounts(most = MOST): KnownAmounts {
  let recent = new Map<string, KnownAmount>()
  let older = new Map<string, KnownAmount>()

  function turn(): void {
    older = recent
    recent = new Map()
  }

  setInterval(turn, TURN_MS).unref()
  return {
    get: (txnId) => recent.get(txnId) ?? older.get(txnId),
    put: (txnId, known) => {
      if (recent.size >= most) turn()
      recent.set(txnId, known)
    },
    turn,
  }
}
