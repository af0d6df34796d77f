/** Randomness. The real one is cryptographic: salts and session names come from it. */
export interface Random {
  /** `size` random bytes as lower-case hexadecimal: two digits a byte. */
  readonly hex: (size: number) => string
  /** A whole number from 0 up to, not including, `below`; at most 2^48. */
  readonly integer: (below: number) => number
}
