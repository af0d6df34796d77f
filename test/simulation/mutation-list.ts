/** Rules whose breach the simulation must find: the break, the seeds, and the expected violation. */
import type { Breaks } from './breaks.ts'
import { DOMAIN_BREAKS } from './breaks-domain.ts'
import { LOG_MUTATIONS } from './breaks-log.ts'
import * as runtime from './breaks-runtime.ts'
import { FAULT_KINDS } from './cluster/faults.ts'
import { type Plan, planOf } from './plan.ts'

export interface Mutation {
  readonly rule: string
  readonly breaks: Breaks
  /** Default: the seed's own plan. */
  readonly plan?: (seed: number) => Plan
  /**
   * The first seed, which found the breach when this was written, and the number of seeds to try: about three times the
   * number needed.
   */
  readonly seeds: readonly [from: number, within: number]
  /** A violation that identifies the rule. */
  readonly foundAs: RegExp
}

/** Makes conjunctions of two conditions more frequent. */
export function busy(seed: number): Plan {
  return { ...planOf(seed), clients: 8, requestsPerClient: 40 }
}

const TAKEOVERS = new Set(['blow.usurp', 'usurped_commit', 'blow.clock'])

const LATE_ATTEMPTS = new Set(['network.overtaken', 'rare.attempt_given_up'])

/** Edges give up early, and their abandoned attempts arrive after later ones. */
function impatient(seed: number): Plan {
  return {
    ...busy(seed),
    without: new Set(FAULT_KINDS),
    harsh: LATE_ATTEMPTS,
  }
}

const SLOW_COMMITS = new Set(['store.commitLate', 'store.commitStuck', 'store.commitAppliedWhenEnded'])

/** Commits that were given up without an answer still take effect later. */
function belated(seed: number): Plan {
  return { ...busy(seed), without: new Set(FAULT_KINDS), harsh: SLOW_COMMITS }
}

const LOST_SERVER = 'blow.failover_lossy'

/** The only fault: the database server is lost, and a standby that lacks commits takes its place. */
function forgetful(seed: number): Plan {
  return {
    ...busy(seed),
    without: new Set(FAULT_KINDS.filter((kind) => kind !== LOST_SERVER)),
    harsh: new Set([LOST_SERVER]),
  }
}

/** Shards change owners all the time, between nodes whose clocks run too fast or too slow. */
function contested(seed: number): Plan {
  return { ...busy(seed), without: new Set(FAULT_KINDS.filter((kind) => !TAKEOVERS.has(kind))) }
}

/** By the names for `npm run sim -- --break NAME`. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  fenceChecks: {
    rule: 'I1: a commit is checked against the token of its shard',
    breaks: { database: 'fenceChecks' },
    seeds: [13, 15],
    foundAs: /I1: .* wrote shard/,
  },
  fenceLocks: {
    rule: 'I1: the fence locks the rows that it reads',
    breaks: { database: 'fenceLocks' },
    seeds: [4, 30],
    foundAs: /I1: .* wrote shard|I1b: /,
  },
  looksAtPrevious: {
    rule: 'I1b: a row is written only on top of the version that it was computed from, so that a second copy fails',
    breaks: { database: 'looksAtPrevious' },
    seeds: [4, 10],
    foundAs: /I1b: .*(version \d+ written by .* and by|a commit took effect twice)/,
  },
  acquireLoadsOldSnapshot: {
    rule: 'D5: after an acquire the shard is loaded by later statements',
    breaks: { database: 'acquireLoadsOldSnapshot' },
    seeds: [4, 30],
    foundAs:
      /(shard_quarantined|channel_parked|timer_parked) .*(computed from|sent .* on \d|mark .* on \d|exists|and not pending)|channel_stopped|I10: |I3: |N1: |W[12]: /,
  },
  sentFromRows: {
    rule: 'D6: the number of sent messages is a counter, not derived from the remaining rows',
    breaks: { database: 'sentFromRows' },
    seeds: [4, 10],
    foundAs: /channel_stopped|I3: .* (sends|taken in)|I11: /,
  },
  noPins: {
    rule: 'P1: the actors of a batch stay pinned while look-ups are open',
    breaks: { pins: runtime.noPins },
    seeds: [2, 10],
    foundAs: /computed from version|exists|W[12]: |I10: |I3: |N1: /,
  },
  replyBeforeCommit: {
    rule: 'I10: no answer leaves before its commit',
    breaks: { gate: () => runtime.hastyGate },
    seeds: [1, 5],
    foundAs: /I10: /,
  },
  refuseBeforeCommit: {
    rule: 'I10: no refusal and no repeat leaves before its commit',
    breaks: { gate: runtime.createHastyRefusals },
    seeds: [1, 10],
    foundAs: /I10: .* replies to/,
  },
  gapsInInbox: {
    rule: 'R1: a shard accepts exactly the next message of another shard',
    breaks: { inboxOrder: runtime.gaps },
    seeds: [4, 18],
    foundAs: /I3: |I4: |I11: |shard_quarantined|channel_parked/,
  },
  acknowledgesOnEntry: {
    rule: 'R2: a message is acknowledged when it is committed, not when it enters the mailbox',
    breaks: { transport: runtime.acknowledgingOnEntry },
    seeds: [4, 12],
    foundAs: /channel_stopped|I11: /,
  },
  carriesUncommitted: {
    rule: 'V1: only committed messages are carried',
    breaks: { store: runtime.carryingUncommitted },
    seeds: [11, 15],
    foundAs: /I3: .* taken in before it was committed/,
  },
  forgetsAttempts: {
    rule: 'I12: an attempt that comes after a later one of its request is dropped',
    breaks: { transport: runtime.forgettingAttempts },
    plan: impatient,
    seeds: [1, 6],
    foundAs: /I12: .* was reported as not applied/,
  },
  saysMoved: {
    rule: 'I12: a request in a mailbox is never reported as moved',
    breaks: { transport: runtime.sayingMoved },
    seeds: [12, 40],
    foundAs: /I12: .* was reported as not applied/,
  },
  takesUnknownForFailed: {
    rule: 'B1: a commit without an answer has not failed',
    breaks: { store: runtime.takingUnknownForFailed },
    seeds: [3, 20],
    foundAs: /computed from version|exists|sent .* on \d|mark .* on \d|and not pending|I3: /,
  },
  loadsBeforeFence: {
    rule: 'H3: the effect of a commit without an answer is read after that commit was fenced',
    breaks: { store: runtime.loadingBeforeFence },
    plan: belated,
    seeds: [34, 40],
    foundAs: /shard_quarantined|channel_parked|timer_parked|channel_stopped|N1: |I3: /,
  },
  keepsSignatures: {
    rule: 'B3: a receipt that was signed for a batch that failed is never shown',
    breaks: { signer: runtime.keepingSignatures },
    seeds: [10, 20],
    foundAs: /I7: the receipt/,
  },
  forgetsIds: {
    rule: 'N1: the IDs of a new owner are above those of the previous owner',
    breaks: { store: runtime.forgettingIds },
    plan: contested,
    seeds: [14, 45],
    foundAs: /N1: /,
  },
  ignoresDeadlines: {
    rule: 'I12: an expired request is not stepped, however long its node was paused',
    breaks: { transport: runtime.ignoringDeadlines },
    seeds: [4, 20],
    foundAs: /I12: .* past its deadline/,
  },
  takesSilenceForNobody: {
    rule: 'I12: silence does not prove that a request was not delivered',
    breaks: { edge: runtime.takingSilenceForAbsence },
    seeds: [3, 10],
    foundAs: /I12: .* was reported as not applied/,
  },
  believesOldRefusals: {
    rule: 'I12: the refusal of an earlier attempt proves nothing about a later one',
    breaks: { edge: runtime.believingOldRefusals },
    plan: impatient,
    seeds: [1, 6],
    foundAs: /I12: .* was reported as not applied/,
  },
  takesMovesForRefusals: {
    rule: 'I12: that its shard has moved is no proof that an attempt was turned away',
    breaks: { edge: runtime.takingMovesForRefusals },
    seeds: [4, 30],
    foundAs: /I12: .* was reported as not applied/,
  },
  releasesUnemptied: {
    rule: 'T1: a shard is given away only when no command waits in it',
    breaks: { host: runtime.releasingUnemptied },
    seeds: [4, 6],
    foundAs: /T1: .* releases shard/,
  },
  servesOnWord: {
    rule: 'T2: a node serves a shard only once it has acquired the shard from the store',
    breaks: { transport: runtime.servingOnWord },
    seeds: [32, 80],
    foundAs: /T2: .* commits in shard/,
  },
  acquireCompares: {
    rule: 'I1: a shard is taken only on top of the epoch that was seen',
    breaks: { database: 'acquireCompares' },
    seeds: [11, 24],
    foundAs: /I1: shard \d+ went from|postgresql_rewound/,
  },
  refusesUnaccepted: {
    rule: 'T3: a database server that was not accepted is refused, even by processes without memory of it',
    breaks: { database: 'refusesUnaccepted' },
    plan: forgetful,
    seeds: [10, 10],
    foundAs: /T3: .* timeline/,
  },
  trusts_unchecked: {
    rule: 'S3: a signature counts under the key that the step sees, and only once it was checked',
    breaks: { step: DOMAIN_BREAKS.trusts_unchecked },
    seeds: [3, 10],
    foundAs: /M1: .* is not signed by the key|without a signature by any key/,
  },
  ignores_keys: {
    rule: 'I3: the earlier use of an idempotency key is looked up',
    breaks: { step: DOMAIN_BREAKS.ignores_keys },
    seeds: [1, 5],
    foundAs: /I3: .* took effect twice|the transaction or its key exists|the operation is recorded|I10: .* says repeat/,
  },
  spends_incoming: {
    rule: 'L2: the value of a leg cannot be spent before its group has settled',
    breaks: { step: DOMAIN_BREAKS.spends_incoming },
    seeds: [33, 40],
    foundAs: /M1: |I4: |I5: /,
  },
  settles_silently: {
    rule: 'D22: every change of a balance has an entry in the chain',
    breaks: { step: DOMAIN_BREAKS.settles_silently },
    seeds: [1, 6],
    foundAs: /I6: .* settled legs changed balances/,
  },
  rehearses_for_real: {
    rule: 'D24: a dry run writes nothing',
    breaks: { step: DOMAIN_BREAKS.rehearses_for_real },
    seeds: [1, 10],
    foundAs: /I3: |I10: .*dry_run/,
  },
  compensates_unmarked: {
    rule: 'I8: a compensated transaction is marked, and is not compensated again',
    breaks: { step: DOMAIN_BREAKS.compensates_unmarked },
    seeds: [13, 20],
    foundAs: /I8: |compensated by \S+ already/,
  },
  refunds_beyond: {
    rule: 'D26: the completed refunds of a transfer count against its amount',
    breaks: { step: DOMAIN_BREAKS.refunds_beyond },
    seeds: [13, 20],
    foundAs: /R1: /,
  },
  refunds_pending: {
    rule: 'D26: the pending refunds of a transfer count against its amount',
    breaks: { step: DOMAIN_BREAKS.refunds_pending },
    seeds: [8, 20],
    foundAs: /R1: /,
  },
  captures_beyond: {
    rule: 'D25: the captures of a hold never exceed its amount',
    breaks: { step: DOMAIN_BREAKS.captures_beyond },
    seeds: [26, 40],
    foundAs: /Y1: .* are captured/,
  },
  captures_expired: {
    rule: 'D25: a hold accepts no capture after its expiry',
    breaks: { step: DOMAIN_BREAKS.captures_expired },
    plan: busy,
    seeds: [4, 20],
    foundAs: /Y3: .* after its expiry/,
  },
  releases_ended: {
    rule: 'D25: a hold ends once',
    breaks: { step: DOMAIN_BREAKS.releases_ended },
    seeds: [4, 20],
    foundAs: /Y1: .* was \w+ and is released/,
  },
  gives_room_away: {
    rule: 'I5: room is kept for incoming and returning value',
    breaks: { step: DOMAIN_BREAKS.gives_room_away },
    plan: busy,
    seeds: [18, 60],
    foundAs: /I5: .*18 digits|M1: .*balance_limit/,
  },
  reserves_expectations: {
    rule: 'L3: an expectation reserves nothing',
    breaks: { step: DOMAIN_BREAKS.reserves_expectations },
    seeds: [1, 5],
    foundAs: /I5: .* kept free; its holds say/,
  },
  reveals_room: {
    rule: 'L3: the refusal of an unsigned leg reveals nothing of the balance',
    breaks: { step: DOMAIN_BREAKS.reveals_room },
    seeds: [2, 20],
    foundAs: /I10: .*refused with balance_limit/,
  },
  spends_reserved: {
    rule: 'I5: reserved value is not spent',
    breaks: { step: DOMAIN_BREAKS.spends_reserved },
    seeds: [9, 15],
    foundAs: /I5: |a balance that the table does not take/,
  },
  moves_held: {
    rule: 'O2: an NFT that is held for one serves no other until it is released or transferred',
    breaks: { step: DOMAIN_BREAKS.moves_held },
    seeds: [25, 25],
    foundAs: /I9: |O2: |instance \w+ does not take/,
  },
  undoes_unrecorded: {
    rule: 'B1: a compensation waits until its transaction has a row',
    breaks: { step: DOMAIN_BREAKS.undoes_unrecorded },
    plan: busy,
    seeds: [13, 60],
    foundAs: /changed, and not there/,
  },
  takes_twice: {
    rule: 'A1: an arrival is taken once, however often the request is repeated',
    breaks: { step: DOMAIN_BREAKS.takes_twice },
    seeds: [30, 60],
    foundAs: /A1: |I4: /,
  },
  holds_existing: {
    rule: 'A1: an account that exists is not held for an import',
    breaks: { step: DOMAIN_BREAKS.holds_existing },
    seeds: [8, 40],
    foundAs: /I10: .*held, and it was not so/,
  },
  claims_held: {
    rule: 'A1: no client can register an account that is being imported',
    breaks: { step: DOMAIN_BREAKS.claims_held },
    seeds: [3, 30],
    foundAs: /A1: .*got a key|registered, where every state/,
  },
  holds_without_room: {
    rule: 'A1: room is kept for the held records of an import',
    breaks: { step: DOMAIN_BREAKS.holds_without_room },
    seeds: [1, 15],
    foundAs: /I5: .*kept free/,
  },
  trusts_unasked: {
    rule: 'A2: a look-up before an account arrived does not show all its used keys',
    breaks: { step: DOMAIN_BREAKS.trusts_unasked },
    seeds: [96, 450],
    foundAs: /A2: .*has an effect here/,
  },
  forgetsElsewhere: {
    rule: 'A2: an account that is loaded is looked up for keys used elsewhere',
    breaks: { store: runtime.forgettingElsewhere },
    seeds: [4, 60],
    foundAs: /A2: .*has an effect here/,
  },
  forgets_erasure: {
    rule: 'A3: an erased account reveals only that it is closed',
    breaks: { step: DOMAIN_BREAKS.forgets_erasure },
    seeds: [1, 15],
    foundAs: /I10: .*account_keyless, where/,
  },
  departs_unfrozen: {
    rule: 'A4: only a frozen account leaves',
    breaks: { step: DOMAIN_BREAKS.departs_unfrozen },
    seeds: [15, 45],
    foundAs:
      /A4: .*leaves|I10: .* replies to depart .*: (departed, where|shows a departure that was not so|.* says account_not_frozen)/,
  },
  frees_issuers: {
    rule: 'A5: an issuer stays claimed, whatever the outcome of its imports',
    breaks: { step: DOMAIN_BREAKS.frees_issuers },
    seeds: [137, 200],
    foundAs: /A5: .*is an issuer, and unclaimed/,
  },
  pagesWait: {
    rule: 'D23: a page of events ends below the oldest running commit',
    breaks: { database: 'pagesWait' },
    seeds: [4, 15],
    foundAs: /E[34]: /,
  },
  pagesDropLast: {
    rule: 'D23: a webhook gets each event of a page',
    breaks: { events: runtime.droppingLast },
    seeds: [1, 5],
    foundAs: /E4: /,
  },
  webhookAcceptance: {
    rule: 'D23: a webhook moves on only once its receiver has accepted the event',
    breaks: { sender: runtime.notAwaitingAcceptance },
    seeds: [1, 5],
    foundAs: /E4: /,
  },
  webhookFence: {
    rule: 'D23: only the holder of the latest lease stores the position of a webhook',
    breaks: { database: 'webhookFence' },
    plan: belated,
    seeds: [1, 12],
    foundAs: /E5: /,
  },
  ...LOG_MUTATIONS,
  logFence: { ...LOG_MUTATIONS.logFence, plan: belated },
  logAccepted: { ...LOG_MUTATIONS.logAccepted, plan: forgetful },
}
