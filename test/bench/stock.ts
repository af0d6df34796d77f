/** Whole requests that were signed beforehand. Taken from the front: what is left when the time is over stays. */
export interface Stock {
  readonly requests: readonly Uint8Array[]
  next: number
}
