/** What a run broke, as data: nobody has to read it out of a message. */
export interface Violation {
  /** An invariant, `I4`, a rule of the model, `M1`, an event that a node logged, `shard_quarantined`, or `error`. */
  readonly name: string
  readonly text: string
}

const MEANINGS: Readonly<Record<string, string>> = {
  A1: 'An import is here whole or not at all, and what comes is taken once.',
  A2: 'What an account did on the ledger that it came from is not done again here.',
  A3: 'What was erased stays erased.',
  A4: 'What leaves for another ledger is all that a frozen account has of it.',
  I1: 'One writer: a batch takes effect only under the token that its shard has in the store at that moment.',
  I1b: 'An account or actor is written only on top of the version that it was computed from.',
  I2: 'What was accepted is never lost, and reaches one final state.',
  I3: 'Nothing takes effect twice: neither a request under its key nor a message between shards; none is left out.',
  I4: 'Value is conserved per asset: what is held, carried and outside adds up after every commit.',
  I5: 'No balance and nothing available is negative or leaves 18 digits; what may come back has room.',
  I6: 'Audit chains recompute from entry 0, without a gap, and the tip is the last entry’s.',
  I7: 'Every processed transaction has a receipt that verifies.',
  I8: 'A settled group has all its legs, a reverted one none that is not undone exactly once; final states stay.',
  I9: 'An NFT has one owner or is burned, and is minted once.',
  I10: 'Nothing is said before the commit that it tells of: an answer must be true of what was committed by then.',
  I11: 'Once faults stop, every shard has an owner and everything that was asked comes to an end.',
  I12: '“Not applied” is said only of what had no effect, and never will have.',
  K3: 'A run is bounded in steps and in virtual time.',
  M1: 'An account is what the single-threaded reference model makes of the same history.',
  N1: 'Transaction IDs of a shard grow, whoever owns it.',
  T1: 'A node gives a shard away only when nothing waits in it.',
  T2: 'A node commits only in epochs that the store has given to its session.',
  T3: 'No node commits to, or reads from, a database server that the ledger was not accepted on.',
  W1: 'A batch writes what its commands order, no row more, none less, none otherwise.',
  W2: 'What a step said is what the rows say.',
  W3: 'A step changes nothing of what it is given.',
  W4: 'Every single command conserves value.',
  W5: 'From nothing, the commands of an actor lead to the state that its rows have at last.',
  shard_quarantined: 'A node found a rule of its own broken in a shard and serves it no more.',
  channel_parked: 'The owner of a shard could not handle a message: it consumes no more messages of that source.',
  timer_parked: 'The owner of a shard could not handle a timer of one of its actors.',
  channel_stopped: 'The counters of two shards contradict each other: no more messages are carried between them.',
  error: 'Code threw where nothing may throw.',
}

/** Reads the name that the text leads with: `at 12 ms: I4: …`, or `at 12 ms: node-a#1 says shard_quarantined …`. */
export function violationOf(text: string): Violation {
  const what = text.replace(/^at [\d.]+ ms: /, '')
  const rule = /^([A-Z]\d+[a-z]?): /.exec(what)?.[1]
  const event = /^\S+ says (\w+)/.exec(what)?.[1]
  return { name: rule ?? event ?? 'error', text }
}

/** What the name stands for, in a line. */
export function meaningOf(name: string): string {
  return MEANINGS[name] ?? (/^[A-Z]\d/.test(name) ? 'A rule of the checkers.' : 'A node logged it as an error.')
}
