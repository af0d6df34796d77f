/** Every rule whose breach the simulation must find: how it is broken, within how many seeds, and what then tells. */
import { NO_RUNTIME_MUTATIONS, type RuntimeMutations } from './cluster-mutations.ts'
import type { DomainMutation } from './cluster-mutations-domain.ts'
import { type ClusterOptions, runCluster } from './cluster.ts'
import { FAULT_KINDS } from './faults.ts'
import { SimulationFailure } from './kernel.ts'
import { type Plan, planOf } from './plan.ts'
import { NO_STORE_MUTATIONS, type StoreMutations } from './sim-ledger-store-faults.ts'

export interface Mutation {
  readonly rule: string
  readonly options: Omit<ClusterOptions, 'plan'>
  /** A seed's own, unless it says otherwise. */
  readonly plan?: (seed: number) => Plan
  /** About three times as many as it takes from the first on. */
  readonly withinSeeds: number
  /** The one to begin with, which found out when this was written: those before it come last. */
  readonly from?: number
  /** Among what such a run breaks: what tells which rule it is. */
  readonly foundAs: RegExp
}

export interface Finding {
  /** Of the seed that found out. */
  readonly plan: Plan | undefined
  /** What was broken. */
  readonly broken: string
  /** What seeds before it broke that does not tell which rule it is. */
  readonly otherwise: readonly string[]
}

/** What needs two things to meet meets more often. */
export function busy(seed: number): Plan {
  return { ...planOf(seed), clients: 8, requestsPerClient: 40 }
}

const TAKEOVERS = new Set(['blow.usurp', 'usurped_commit', 'blow.clock'])

const LATE_ATTEMPTS = new Set(['network.overtaken', 'rare.attempt_given_up'])

/** Edges lose patience at once, and what they gave up comes after what they asked instead. */
function impatient(seed: number): Plan {
  return {
    ...busy(seed),
    without: new Set(FAULT_KINDS),
    harsh: LATE_ATTEMPTS,
  }
}

const SLOW_COMMITS = new Set(['store.commitLate', 'store.commitStuck', 'store.commitAppliedWhenEnded'])

/** Commits whose answer was given up take effect all the same, later. */
function belated(seed: number): Plan {
  return { ...busy(seed), without: new Set(FAULT_KINDS), harsh: SLOW_COMMITS }
}

const LOST_SERVER = 'blow.failover_lossy'

/** Nothing goes wrong but the database server, and what takes its place lacks commits. */
function forgetful(seed: number): Plan {
  return {
    ...busy(seed),
    without: new Set(FAULT_KINDS.filter((kind) => kind !== LOST_SERVER)),
    harsh: new Set([LOST_SERVER]),
  }
}

/** Shards change hands all the time, between nodes whose clocks run too fast or too slow. */
function contested(seed: number): Plan {
  return { ...busy(seed), without: new Set(FAULT_KINDS.filter((kind) => !TAKEOVERS.has(kind))) }
}

function store(broken: Partial<StoreMutations>): Pick<Mutation, 'options'> {
  return { options: { storeMutations: { ...NO_STORE_MUTATIONS, ...broken } } }
}

function runtime(broken: Partial<RuntimeMutations>): Pick<Mutation, 'options'> {
  return { options: { runtimeMutations: { ...NO_RUNTIME_MUTATIONS, ...broken } } }
}

function domain(broken: DomainMutation): Pick<Mutation, 'options'> {
  return runtime({ domain: broken })
}

export const MUTATIONS: readonly Mutation[] = [
  {
    rule: 'I1: a commit is checked against the token of its shard',
    ...store({ fenceChecks: false }),
    withinSeeds: 15,
    from: 13,
    foundAs: /I1: .* wrote shard/,
  },
  {
    rule: 'I1: the fence locks the rows that it reads',
    ...store({ fenceLocks: false }),
    withinSeeds: 30,
    from: 4,
    foundAs: /I1: .* wrote shard|I1b: /,
  },
  {
    rule: 'I1b: what is written is written on top of what it was computed from, so that a second copy of it fails',
    ...store({ looksAtPrevious: false }),
    withinSeeds: 10,
    foundAs: /I1b: .*(version \d+ written by .* and by|a commit took effect twice)/,
  },
  {
    rule: 'D5: what is loaded after an acquire is loaded by statements of its own',
    ...store({ acquireLoadsOldSnapshot: true }),
    withinSeeds: 30,
    from: 4,
    foundAs:
      /(shard_quarantined|channel_parked|timer_parked) .*(computed from|sent .* on \d|mark .* on \d|exists|and not pending)|channel_stopped|I10: |I3: |N1: |W[12]: /,
  },
  {
    rule: 'D6: what was sent is a counter, and does not follow from the rows that are left',
    ...store({ sentFromRows: true }),
    withinSeeds: 10,
    from: 4,
    foundAs: /channel_stopped|I3: .* (sends|taken in)|I11: /,
  },
  {
    rule: 'P1: what a batch touched stays pinned while look-ups are open',
    ...runtime({ noPins: true }),
    withinSeeds: 10,
    foundAs: /computed from version|exists|W[12]: |I10: |I3: |N1: /,
  },
  {
    rule: 'I10: no answer leaves before its commit',
    ...runtime({ replyBeforeCommit: true }),
    withinSeeds: 5,
    foundAs: /I10: /,
  },
  {
    rule: 'I10: no refusal and no repeat leaves before the commit that it rides in',
    ...runtime({ refuseBeforeCommit: true }),
    withinSeeds: 10,
    foundAs: /I10: .* said of/,
  },
  {
    rule: 'R1: of what another shard has sent, exactly the next is taken in',
    ...runtime({ gapsInInbox: true }),
    withinSeeds: 18,
    from: 13,
    foundAs: /I3: |I4: |I11: |shard_quarantined|channel_parked/,
  },
  {
    rule: 'R2: what was delivered is acknowledged when it is committed, not when it has entered',
    ...runtime({ acknowledgesOnEntry: true }),
    withinSeeds: 12,
    from: 4,
    foundAs: /channel_stopped|I11: /,
  },
  {
    rule: 'V1: only committed messages are carried',
    ...runtime({ carriesUncommitted: true }),
    withinSeeds: 15,
    from: 10,
    foundAs: /I3: .* taken in before it was committed/,
  },
  {
    rule: 'I12: an attempt that comes after a later one of its request is dropped',
    ...runtime({ forgetsAttempts: true }),
    plan: impatient,
    withinSeeds: 6,
    from: 5,
    foundAs: /I12: .* said not to be applied/,
  },
  {
    rule: 'I12: what has entered a mailbox is never said to have moved',
    ...runtime({ saysMoved: true }),
    withinSeeds: 40,
    from: 12,
    foundAs: /I12: .* said not to be applied/,
  },
  {
    rule: 'B1: a commit that is not answered has not failed',
    ...runtime({ takesUnknownForFailed: true }),
    withinSeeds: 20,
    from: 3,
    foundAs: /computed from version|exists|sent .* on \d|mark .* on \d|and not pending|I3: /,
  },
  {
    rule: 'H3: what a commit without an answer has left is read after that commit was fenced',
    ...runtime({ loadsBeforeFence: true }),
    plan: belated,
    withinSeeds: 40,
    from: 29,
    foundAs: /shard_quarantined|channel_parked|timer_parked|channel_stopped|N1: |I3: /,
  },
  {
    rule: 'B3: a receipt that was signed for a batch that failed is never shown',
    ...runtime({ keepsSignatures: true }),
    withinSeeds: 20,
    from: 10,
    foundAs: /I7: the receipt/,
  },
  {
    rule: 'N1: a new owner gives no ID from before those of the last',
    ...runtime({ forgetsIds: true }),
    plan: contested,
    withinSeeds: 45,
    from: 14,
    foundAs: /N1: /,
  },
  {
    rule: 'I12: what nobody waits for any more is not stepped, however long its node has slept',
    ...runtime({ ignoresDeadlines: true }),
    withinSeeds: 20,
    from: 4,
    foundAs: /I12: .* past its deadline/,
  },
  {
    rule: 'I12: silence is no proof that nobody was there',
    ...runtime({ takesSilenceForNobody: true }),
    withinSeeds: 10,
    from: 3,
    foundAs: /I12: .* said not to be applied/,
  },
  {
    rule: 'I12: what refused an earlier attempt says nothing of a later one',
    ...runtime({ believesOldRefusals: true }),
    plan: impatient,
    withinSeeds: 6,
    foundAs: /I12: .* said not to be applied/,
  },
  {
    rule: 'I12: that its shard has moved is no proof that an attempt was turned away',
    ...runtime({ takesMovesForRefusals: true }),
    withinSeeds: 30,
    from: 23,
    foundAs: /I12: .* said not to be applied/,
  },
  {
    rule: 'T1: a shard is given away only when nothing waits in it',
    ...runtime({ releasesUnemptied: true }),
    withinSeeds: 6,
    from: 4,
    foundAs: /T1: .* releases shard/,
  },
  {
    rule: 'T2: who is told of a shard serves it only once the store has given it',
    ...runtime({ servesOnWord: true }),
    withinSeeds: 80,
    from: 27,
    foundAs: /T2: .* commits in shard/,
  },
  {
    rule: 'I1: a shard is taken only on top of the epoch that was seen',
    ...store({ acquireCompares: false }),
    withinSeeds: 24,
    from: 11,
    foundAs: /I1: shard \d+ went from|postgresql_went_back/,
  },
  {
    rule: 'T3: a database server that the ledger was not accepted on is refused, by processes that remember nothing, too',
    ...store({ refusesUnaccepted: false }),
    plan: forgetful,
    withinSeeds: 10,
    from: 10,
    foundAs: /T3: .* timeline/,
  },
  {
    rule: 'S3: a signature counts under the key that the step sees, and only once it was checked',
    ...domain('trusts_unchecked'),
    withinSeeds: 10,
    from: 2,
    foundAs: /M1: .* is not signed by the key|without a signature by any key/,
  },
  {
    rule: 'I3: what a key did before is looked at',
    ...domain('ignores_keys'),
    withinSeeds: 5,
    foundAs: /I3: .* took effect twice|the transaction or its key exists|the operation is recorded|I10: .* says repeat/,
  },
  {
    rule: 'L2: what comes by a leg cannot be spent before its group has settled',
    ...domain('spends_incoming'),
    withinSeeds: 40,
    from: 29,
    foundAs: /M1: |I4: |I5: /,
  },
  {
    rule: 'I8: what is undone is marked, and is not undone again',
    ...domain('compensates_unmarked'),
    withinSeeds: 20,
    from: 13,
    foundAs: /I8: |compensated by \S+ already/,
  },
  {
    rule: 'I5: room is kept for value that may come, or come back',
    ...domain('gives_room_away'),
    plan: busy,
    withinSeeds: 60,
    from: 13,
    foundAs: /I5: .*18 digits|M1: .*balance_limit/,
  },
  {
    rule: 'L3: an expectation reserves nothing',
    ...domain('reserves_expectations'),
    withinSeeds: 5,
    foundAs: /I5: .* kept free; its holds say/,
  },
  {
    rule: 'L3: what an account has not signed tells nothing of its balance',
    ...domain('reveals_room'),
    withinSeeds: 20,
    foundAs: /I10: .*refused with balance_limit/,
  },
  {
    rule: 'I5: what is reserved is not spent on anything else',
    ...domain('spends_reserved'),
    withinSeeds: 15,
    from: 7,
    foundAs: /I5: |a balance that the table does not take/,
  },
  {
    rule: 'O2: an NFT that is held for one is nobody else’s until it is let go or changes hands',
    ...domain('moves_held'),
    withinSeeds: 25,
    from: 25,
    foundAs: /I9: |O2: |an NFT that is \w+ cannot hear/,
  },
  {
    rule: 'G4: a time that was overtaken says nothing',
    ...domain('believes_old_times'),
    plan: busy,
    withinSeeds: 120,
    from: 93,
    foundAs: /a group that is \w+ cannot hear due|I8: |G\d: /,
  },
  {
    rule: 'B1: what undoes a transaction waits until that has a row',
    ...domain('undoes_what_is_new'),
    plan: busy,
    withinSeeds: 60,
    from: 13,
    foundAs: /changed, and not there/,
  },
  {
    rule: 'A1: what has arrived is taken once, however often that is asked',
    ...domain('takes_twice'),
    withinSeeds: 60,
    from: 30,
    foundAs: /A1: |I4: /,
  },
  {
    rule: 'A1: an account that exists is not held for an import',
    ...domain('holds_existing'),
    withinSeeds: 40,
    from: 8,
    foundAs: /I10: .*held, and it was not so/,
  },
  {
    rule: 'A1: an account that is on its way is nobody else’s',
    ...domain('claims_held'),
    withinSeeds: 30,
    from: 30,
    foundAs: /A1: .*got a key|registered, where every state/,
  },
  {
    rule: 'A1: room is kept for what is held of an import',
    ...domain('holds_without_room'),
    withinSeeds: 15,
    foundAs: /I5: .*kept free/,
  },
  {
    rule: 'A2: what was looked up before an account came is not taken for all that it did',
    ...domain('trusts_unasked'),
    withinSeeds: 450,
    from: 68,
    foundAs: /A2: .*has an effect here/,
  },
  {
    rule: 'A2: an account that is loaded is asked about what it did elsewhere',
    ...runtime({ forgetsElsewhere: true }),
    withinSeeds: 60,
    foundAs: /A2: .*has an effect here/,
  },
  {
    rule: 'A3: an erased account says no more than that it is closed',
    ...domain('forgets_erasure'),
    withinSeeds: 15,
    foundAs: /I10: .*account_keyless, where/,
  },
  {
    rule: 'A4: only a frozen account leaves',
    ...domain('departs_unfrozen'),
    withinSeeds: 45,
    from: 15,
    foundAs:
      /A4: .*leaves|I10: .* said of depart .*: (departed, where|shows a departure that was not so|.* says account_not_frozen)/,
  },
  {
    rule: 'A5: an issuer is somebody’s, whatever becomes of the imports that it comes in',
    ...domain('frees_issuers'),
    withinSeeds: 200,
    from: 134,
    foundAs: /A5: .*is an issuer, and nobody's/,
  },
]

/** Runs all the seeds in turn until one finds out; one that fails of something else, as what follows may, is passed over. */
export async function firstFinding(mutation: Mutation): Promise<Finding> {
  const { options, plan = planOf, withinSeeds, from = 1, foundAs } = mutation
  const otherwise: string[] = []
  for (let turn = 0; turn < withinSeeds; turn += 1) {
    const seed = 1 + ((from - 1 + turn) % withinSeeds)
    try {
      await runCluster({ plan: plan(seed), ...options })
    } catch (error) {
      if (!(error instanceof SimulationFailure)) throw error
      const broken = error.violations.map(({ text }) => text)
      const found = broken.find((text) => foundAs.test(text))
      if (found !== undefined) return { plan: plan(seed), broken: found, otherwise }
      otherwise.push(...broken.slice(0, 1))
    }
  }
  return { plan: undefined, broken: '', otherwise }
}
