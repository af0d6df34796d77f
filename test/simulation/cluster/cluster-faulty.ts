/** The faults of injected-faults.ts in a simulated cluster. Each occurs once in a run, for one account. */
import type { LedgerNodeDependencies } from '../../../runtime/node/ledger-node.ts'
import { INJECTED_FAULTS, type InjectedFault } from '../../support/processes/injected-faults.ts'

/** Events that a node may log for a fault: one line for each fault. */
const FAULT_EVENTS = new Set([
  'item_failed',
  'command_refused',
  'command_left_undecided',
  'command_postponed',
  'channel_parked',
  'timer_parked',
  'message_not_sent',
  'verdicts_not_sent',
  'shard_quarantined',
])

/** Excluded: faults unknown to the replay of rows, and all but one fault that ends a shard on a node for good. */
const EXCLUDED = new Set(['order-unwritable', 'order-unrecoverable'])
const QUARANTINES = ['order-invariant', 'order-unsigned']

export class FaultyParts {
  /** The names of the faults that have occurred. */
  readonly triggered = new Set<string>()
  lines = 0
  private readonly faults: readonly InjectedFault[]
  private readonly accounts: number

  /** `accounts`: the number of accounts of the workload. */
  constructor(seed: number, accounts: number) {
    const excludedQuarantine = QUARANTINES[seed % QUARANTINES.length]
    this.accounts = accounts
    this.faults = INJECTED_FAULTS.filter(({ name }) => !EXCLUDED.has(name) && name !== excludedQuarantine)
  }

  over(dependencies: LedgerNodeDependencies): LedgerNodeDependencies {
    return this.faults.reduce<LedgerNodeDependencies>((before, fault, index) => {
      const shouldFail = (): boolean => {
        const isFirst = !this.triggered.has(fault.name)
        this.triggered.add(fault.name)
        return isFirst
      }
      return { ...before, ...fault.inject(before, `account-${index % this.accounts}`, shouldFail) }
    }, dependencies)
  }

  /** Whether an injected fault explains a line at the level `error`: each fault that occurred explains one line. */
  explains(event: string): boolean {
    if (!FAULT_EVENTS.has(event)) return false
    this.lines += 1
    return this.lines <= this.triggered.size
  }
}
