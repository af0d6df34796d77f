/** The ledger that most end-to-end suites share, started once: two nodes, two edges, real processes. */
import type { LedgerClient } from '../support/client/client.ts'
import type { Cluster } from '../support/processes/cluster-process.ts'

export interface Running {
  readonly cluster: Cluster
  readonly client: LedgerClient
  /** The same client at the other edge. */
  readonly elsewhere: LedgerClient
}

/** Only tests may call this: the ledger starts before the first. */
export type GetRunning = () => Running
