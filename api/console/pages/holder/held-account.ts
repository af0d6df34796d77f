import type { AccountKey } from '../../../client/index.ts'

/** An account whose key this browser made. The private key can sign, and cannot be read. */
export interface HeldAccount {
  readonly ledgerId: string
  readonly accountId: string
  readonly key: AccountKey
  readonly createdAtMs: number
}
