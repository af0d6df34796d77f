/** Whole requests signed in advance. Taken from the front; the rest remains for the next run. */
export interface Stock {
  readonly requests: readonly Uint8Array[]
  next: number
}
