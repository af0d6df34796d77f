/** Randomness; cryptographic in production, for salts and session names. */
export interface Random {
  /** `size` random bytes as lower-case hexadecimal: two digits a byte. */
  readonly hex: (size: number) => string
  /** A whole number from 0, below `below`, which is at most 2^48. */
  readonly integer: (below: number) => number
}
