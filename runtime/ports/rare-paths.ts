/**
 * Paths that the code may take at any time and rarely takes: a batch of one, a skipped round, a refusal as if a mailbox
 * were full. None of them may break anything. Production never forces one; the simulation forces them at random, to
 * test their consequences in every state of the cluster (as "buggification" in W. Wilson, "Testing Distributed Systems
 * w/ Deterministic Simulation", 2014).
 */
export const RARE_PATHS = [
  /** The next batch holds one command. */
  'batch_of_one',
  /** A batch ends with the first command that sends messages. */
  'batch_full_of_messages',
  /** A failed batch is halved at once, instead of being resent whole a few times. */
  'batch_halved_at_once',
  /** The next look-up takes one command. */
  'look_up_of_one',
  /** Drops a signature verdict: the step finds the command unverified. */
  'verdict_forgotten',
  /** Evicts every actor that is not pinned. */
  'residents_forgotten',
  /** Evicts facts of other shards. */
  'facts_forgotten',
  /** A channel sends one message, and the next after its acknowledgement. */
  'window_of_one',
  /** Resends messages in flight at once. */
  'carried_again',
  /** Sends each message to a node alone. */
  'carried_one_by_one',
  /** Rejects a delivery, though the shard is served here. */
  'delivery_turned_away',
  /** Acknowledges messages only when they are resent. */
  'delivery_not_acknowledged',
  /** A submission is refused as if the mailbox were full. */
  'mailbox_full',
  /** A shard to give away is not empty in time. */
  'drain_given_up',
  /** Gives away a shard that could stay. */
  'shard_given_away',
  /** Delays the loading of an acquired shard. */
  'loaded_late',
  /** Skips an ownership round. */
  'reconcile_left_out',
  /** Finds one due timer. */
  'due_one_by_one',
  /** Skips a refresh of the routes. */
  'refresh_left_out',
  /** The edge sends each item to a node alone. */
  'items_one_by_one',
  /** The edge gives an attempt up almost at once. */
  'attempt_given_up',
] as const

export type RarePath = (typeof RARE_PATHS)[number]

export interface RarePaths {
  /** Whether to take the path this time. */
  readonly takes: (path: RarePath) => boolean
}

export const NO_RARE_PATHS: RarePaths = { takes: () => false }
