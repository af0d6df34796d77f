/** The subjects of the interface, in the order in which they are read. */
import { ACCOUNTS } from './accounts.ts'
import { ASSERTIONS } from './assertions.ts'
import { ATTESTATIONS } from './attestations.ts'
import { AUTHENTICATION } from './authentication.ts'
import { EXPORTS } from './exports.ts'
import { FUNGIBLE_TOKENS } from './fungible-tokens.ts'
import { IMPORTS } from './imports.ts'
import { NFTS } from './nfts.ts'
import type { Tag } from '../endpoint/operation.ts'
import { OPERATION } from './operation-endpoints.ts'
import { SETTLEMENT_GROUPS } from './settlement-groups.ts'
import { SHARDS } from './shards.ts'
import { TRANSACTIONS } from './transactions.ts'

export const TAGS: readonly Tag[] = [
  AUTHENTICATION,
  ACCOUNTS,
  TRANSACTIONS,
  FUNGIBLE_TOKENS,
  NFTS,
  SETTLEMENT_GROUPS,
  ATTESTATIONS,
  ASSERTIONS,
  EXPORTS,
  IMPORTS,
  SHARDS,
  OPERATION,
]
