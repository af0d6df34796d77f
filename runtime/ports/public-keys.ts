import type { AccountKey } from '../../actors/account/state.ts'

/** Reads a P-256 public key in any form that D2 names; undefined when it is none, or carries a private part. Never throws. */
export type ReadPublicKey = (input: unknown) => AccountKey | undefined
