import type { AccountKey } from '../../actors/account/state.ts'

/** Reads a P-256 public key in any form of D2; undefined for other input or one with a private part. Never throws. */
export type ReadPublicKey = (input: unknown) => AccountKey | undefined
