/** How cruel the simulated database is, and which of its rules a run breaks. Rates are probabilities per call. */
export interface StoreFaults {
  /** An ERROR before anything took effect: definite. */
  commitRefused: number
  commitAppliedAnswerLost: number
  commitLostAnswerLost: number
  /** Arrives seconds later, perhaps after its owner's next attempt or another's acquire. */
  commitLate: number
  /** Takes effect or not only after seconds, with its locks held meanwhile. */
  commitStuck: number
  /** Has taken effect, and runs again up to some seconds later: something in between sends what it holds for unanswered. */
  commitDoubled: number
  /** Its backend is ended while it waits for its standby: it has committed all the same (F5). */
  commitAppliedWhenEnded: number
  /** A connection that its client has left escapes being ended before the next attempt. */
  leftConnectionEscapes: number
  /** Takes tens to hundreds of milliseconds. */
  slow: number
  lookUpSlow: number
  lookUpFails: number
  /** Any other call: never arrives. */
  callLost: number
  /** Any other call: takes effect, and its answer is lost. */
  callAnswerLost: number
}

export const NO_STORE_FAULTS: Readonly<StoreFaults> = {
  commitRefused: 0,
  commitAppliedAnswerLost: 0,
  commitLostAnswerLost: 0,
  commitLate: 0,
  commitStuck: 0,
  commitDoubled: 0,
  commitAppliedWhenEnded: 0,
  leftConnectionEscapes: 0,
  slow: 0,
  lookUpSlow: 0,
  lookUpFails: 0,
  callLost: 0,
  callAnswerLost: 0,
}

/** Rules of the database that a run may break, by name. */
export type StoreRule =
  /** A shard's rows are written whatever its token is. */
  | 'fenceChecks'
  /** The fence reads the token and locks nothing. */
  | 'fenceLocks'
  /** A shard is given to whoever asks for it, whatever has become of it since they looked. */
  | 'acquireCompares'
  /** What is loaded with an acquire is what was committed before the acquire waited. */
  | 'acquireLoadsOldSnapshot'
  /** No counters (D6): a shard has sent the highest number that is left, and messages go as they are acknowledged. */
  | 'sentFromRows'
  /** No version, mark or counter is looked at before it is written (I1b), and what is there is written over. */
  | 'looksAtPrevious'
  /** A session goes on with whatever server it finds first, and refuses others. */
  | 'refusesUnaccepted'

/** Names of the counters, one for each way to be cruel; a run that means to prove something demands that they are not 0. */
export const STORE_FAULT_COUNTERS = [
  'fault:store:commit-refused',
  'fault:store:commit-applied-answer-lost',
  'fault:store:commit-lost',
  'fault:store:commit-late',
  'fault:store:commit-stuck',
  'fault:store:commit-doubled',
  'fault:store:far',
  'fault:store:slow',
  'fault:store:look-up-slow',
  'fault:store:look-up-failed',
  'fault:store:call-lost',
  'fault:store:call-answer-lost',
  'fault:store:poison',
  'fault:store:full',
  'store:commit-fenced',
  'store:commit-busy',
  'store:acquire-waited',
  'store:acquire-locked',
] as const
