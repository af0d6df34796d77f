/** Fault rates of the simulated database, and the rule that a run breaks. Rates are probabilities per call. */
export interface StoreFaults {
  /** An ERROR before any effect: definite. */
  commitRefused: number
  commitAppliedAnswerLost: number
  commitLostAnswerLost: number
  /** Arrives seconds later, perhaps after its owner's next attempt or another owner's acquire. */
  commitLate: number
  /** Takes effect or fails only after seconds, and holds its locks until then. */
  commitStuck: number
  /** Has taken effect, and arrives again up to some seconds later, because a component in between resends it. */
  commitDoubled: number
  /** Its backend is ended while it waits for its standby: it has committed nevertheless (F5). */
  commitAppliedWhenEnded: number
  /** An abandoned connection is not ended before the next attempt. */
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
  /** Writes a shard's rows under any token. */
  | 'fenceChecks'
  /** The fence reads the token without locking. */
  | 'fenceLocks'
  /** An acquire succeeds regardless of changes since the look-up. */
  | 'acquireCompares'
  /** An acquire loads the state from before its wait. */
  | 'acquireLoadsOldSnapshot'
  /** No counters (D6): the sent number is the highest remaining one, and messages are removed when acknowledged. */
  | 'sentFromRows'
  /** Versions, marks and counters are overwritten without a check (I1b). */
  | 'looksAtPrevious'
  /** A session continues with the first server that it finds, accepted or not, and refuses others. */
  | 'refusesUnaccepted'
  /** A page of events does not end below the oldest running commit. */
  | 'pagesWait'
  /** A webhook's progress is stored under any lease. */
  | 'webhookFence'
  /** Entries of the log are read up to the newest commit. */
  | 'logWaits'
  /** A batch of the log is stored on top of any head. */
  | 'logFence'
  /** The log is extended on any server. */
  | 'logAccepted'

/** Names of the counters, one for each kind of fault; demanded.ts requires that they are not 0. */
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
