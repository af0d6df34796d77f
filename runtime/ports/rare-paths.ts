/**
 * Ways that the code may always take and that seldom come about by themselves: a batch of one, a look that is left out, a
 * refusal for a full mailbox that is not full. None of them may break anything, whenever it is taken. In production none
 * is ever chosen; the simulation chooses by chance, so that what follows them is tried in every state of the cluster
 * (as "buggification" in W. Wilson, "Testing Distributed Systems w/ Deterministic Simulation", 2014).
 */
export const RARE_PATHS = [
  /** The next batch holds one command. */
  'batch_of_one',
  /** A batch ends with the first command that sends messages. */
  'batch_full_of_messages',
  /** A batch that failed is halved at once, instead of being sent whole a few times. */
  'batch_halved_at_once',
  /** The next look-up asks for one command. */
  'look_up_of_one',
  /** Drops a verdict on a signature: the step finds it unverified. */
  'verdict_forgotten',
  /** Every actor that nothing needs leaves memory. */
  'residents_forgotten',
  /** Facts of other shards leave memory. */
  'facts_forgotten',
  /** One message of a channel is carried, and nothing more until it is taken in. */
  'window_of_one',
  /** Sends messages in transit again at once. */
  'carried_again',
  /** Messages that would go to a node together go one by one. */
  'carried_one_by_one',
  /** A delivery is turned away, though the shard is served here. */
  'delivery_turned_away',
  /** Leaves messages unacknowledged until they are sent again. */
  'delivery_not_acknowledged',
  /** A submission is refused as if the mailbox were full. */
  'mailbox_full',
  /** A shard that is to be given away is not empty in time. */
  'drain_given_up',
  /** A shard is given away that might stay. */
  'shard_given_away',
  /** After an acquire some time goes by before its shard is loaded. */
  'loaded_late',
  /** A look at what is owned is left out. */
  'reconcile_left_out',
  /** Of the times that have come, one is found. */
  'due_one_by_one',
  /** The routes are not asked for, though they may be wrong. */
  'refresh_left_out',
  /** The edge's items for a node go one by one. */
  'items_one_by_one',
  /** The edge waits hardly at all for an attempt's verdict. */
  'attempt_given_up',
] as const

export type RarePath = (typeof RARE_PATHS)[number]

export interface RarePaths {
  /** Whether to take it, this once. */
  readonly takes: (path: RarePath) => boolean
}

/** Production's. */
export const NO_RARE_PATHS: RarePaths = { takes: () => false }
