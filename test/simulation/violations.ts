/** A run's violations as data, so that they need not be parsed from a message. */
export interface Violation {
  /** An invariant, `I4`, a rule of the model, `M1`, an event that a node logged, `shard_quarantined`, or `error`. */
  readonly name: string
  readonly text: string
}

const MEANINGS: Readonly<Record<string, string>> = {
  A1: 'An import arrives completely or not at all, and each record is taken once.',
  A2: 'An order that an account used on its former ledger has no effect here.',
  A3: 'An erased account stays erased.',
  A4: 'A departure takes a frozen account’s whole amount of an asset.',
  E1: 'Each ended transaction and group, NFT entry, attestation and revocation is in the event log exactly once.',
  E2: 'The events of an account are its whole chain, in order; those of an NFT its whole history.',
  E3: 'A reader that follows cursors reads each event once, in the order of the log.',
  E4: 'The receiver of a webhook accepts each event at least once, for the first time in the order of the log.',
  E5: 'A webhook’s position is stored only by the holder of the latest lease, and never goes back.',
  I1: 'One writer: a batch takes effect only under the token that its shard has in the store at that moment.',
  I1b: 'An account or actor is written only on top of the version that it was computed from.',
  I2: 'An accepted transaction is never lost, and reaches one final state.',
  I3: 'A request under its key and a message between shards take effect exactly once.',
  I4: 'Value is conserved per asset: balances, holds, messages in transit and external value add up after every commit.',
  I5: 'No balance and no available amount is negative or exceeds 18 digits; returning value has room.',
  I6: 'Audit chains recompute from entry 0, without a gap, and the tip is the last entry’s.',
  I7: 'Every processed transaction has a receipt that verifies.',
  I8: 'A settled group has all its legs, a reverted one has compensated each exactly once; final states stay.',
  I9: 'An NFT has one owner or is burned, and is minted once.',
  I10: 'An answer leaves only after its commit, and is true of the committed state.',
  I11: 'Once faults stop, every shard has an owner and every request ends.',
  I12: 'A request is reported as “not applied” only if it had no effect and never will.',
  K3: 'A run is bounded in steps and in virtual time.',
  L1: 'All heads of the witnessed log that were signed are those of one growing list of entries.',
  L2: 'Each committed chain entry is in the witnessed log exactly once, and soon in a published head.',
  L3: 'A published head of the witnessed log has the signatures that its policy demands, and its size never goes down.',
  M1: 'An account equals the single-threaded reference model after the same history.',
  N1: 'Transaction IDs of a shard grow, also across owners.',
  T1: 'A node gives a shard away only when no command waits in it.',
  T2: 'A node commits only in epochs that the store has granted to its session.',
  T3: 'No node commits to, or reads from, a database server that was not accepted for the ledger.',
  W1: 'A batch writes exactly the rows that its commands order.',
  W2: 'The answer of a step agrees with the rows.',
  W3: 'A step does not change its inputs.',
  W4: 'Every single command conserves value.',
  W5: 'Replayed from nothing, the commands of an actor lead to its final state.',
  shard_quarantined: 'A node found an invariant broken in a shard and no longer serves the shard.',
  channel_parked: 'The owner of a shard could not handle a message: it consumes no more messages of that source.',
  timer_parked: 'The owner of a shard could not handle a timer of one of its actors.',
  channel_stopped: 'The counters of two shards contradict each other: no more messages are carried between them.',
  error: 'Code threw where no error may be thrown.',
}

/** Reads the name at the start of the text: `at 12 ms: I4: …`, or `at 12 ms: node-a#1 logs shard_quarantined …`. */
export function violationOf(text: string): Violation {
  const what = text.replace(/^at [\d.]+ ms: /, '')
  const rule = /^([A-Z]\d+[a-z]?): /.exec(what)?.[1]
  const event = /^\S+ logs (\w+)/.exec(what)?.[1]
  return { name: rule ?? event ?? 'error', text }
}

/** The meaning of the name, in one line. */
export function meaningOf(name: string): string {
  return MEANINGS[name] ?? (/^[A-Z]\d/.test(name) ? 'A rule of the checkers.' : 'A node logged it as an error.')
}
