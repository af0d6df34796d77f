/**
 * Checks the event log and its readers.
 *   E1. Each transaction and each group that ended, each entry of an NFT's history, and each attestation and revocation is
 *       one event. (The log fails for an event without a committed row.)
 *   E2. The events of an account are its whole chain, in order; those of an NFT its history. A revocation follows its
 *       attestation.
 *   E3. A reader that follows cursors reads each event once, in the order of the log.
 *   E4. The receiver of a webhook accepts each event at least once, for the first time in the order of the log.
 *   E5. A webhook's position is stored by the holder of the latest lease only, and never goes back.
 */
import type { EventPage, EventPosition, LedgerEvent, LedgerEvents } from '../../../runtime/ports/ledger-events.ts'
import type { SeededRandom } from '../kernel/sim-random.ts'
import type { SimDatabase } from '../store/database.ts'
import type { Demand } from './messages.ts'

const PAUSE_MS = { from: 50, to: 2_000 }
const LARGEST_PAGE = 12
const ALL = 100_000
const NFT_EVENTS = { mint: 'minted', transfer: 'transferred', burn: 'burned' } as const

interface SavedPosition {
  /** The process, and the number of its lease. */
  readonly by: string
  /** The latest claim. */
  readonly holder: string | undefined
  readonly before: EventPosition
  readonly after: EventPosition
}

export class EventChecker {
  /** IDs in the order in which the receiver accepted them first. */
  readonly accepted = new Set<string>()
  private readonly demand: Demand
  private readonly database: SimDatabase
  private readonly events: LedgerEvents
  private readonly random: SeededRandom
  private cursor: EventPosition | null = null
  private followed: string[] = []

  /** `events`: each call takes effect at once. */
  constructor(demand: Demand, database: SimDatabase, events: LedgerEvents) {
    this.demand = demand
    this.database = database
    this.events = events
    this.random = database.kernel.random.fork('event reader')
    this.follow()
  }

  /** A reader received this page. */
  seen({ events }: EventPage): void {
    const { kernel, rows } = this.database
    for (const { name, content } of events) {
      if (content.kind === 'nft' || content.kind === 'attestation') kernel.count(`events:${name}`)
    }
    if (events.length > 0) kernel.count(rows.events.isWaiting() ? 'events:page_beside_commit' : 'events:page')
  }

  saved({ by, holder, before, after }: SavedPosition): void {
    this.demand(holder === undefined || by === holder, `E5: ${by} stored a position, and ${holder} has the lease`)
    const isForward =
      before === after || (databaseOf(before) === databaseOf(after) && this.events.isAfter(after, before))
    this.demand(isForward, `E5: ${by} moved a webhook from ${before} to ${after}`)
  }

  /** `selects`: the events that the webhook asks for. `attested`: those of attestations that were replied to. */
  async atEnd(selects: (event: LedgerEvent) => boolean, attested: ReadonlySet<string>): Promise<void> {
    const { events: all } = await this.events.read(null, ALL)
    this.facts(all)
    this.nfts(all)
    this.attestations(all, attested)
    this.chains(all)
    for (let pages = 0; pages < ALL && !(await this.readPage());) pages += 1
    this.equal('E3: a reader of pages read', this.followed, all.map(placeOf))
    this.equal(
      'E4: the receiver accepted',
      [...this.accepted],
      all.filter(selects).map(({ id }) => id),
    )
  }

  /** E1. */
  private facts(all: readonly LedgerEvent[]): void {
    const { rows } = this.database
    const ended = [...rows.transactions.values()].filter(({ transaction }) => transaction.status !== 'pending')
    const transactions = ended.map(({ transaction }) => `transaction.${transaction.status} ${transaction.txnId}`)
    const read = all.flatMap((event) => {
      const txnId = txnIdOf(event)
      return txnId === undefined ? [] : [`${event.name} ${txnId}`]
    })
    this.equal('E1: the log has', read.toSorted(), transactions.toSorted())
    const groups = rows.actors
      .all()
      .flatMap(({ state }) => (state.kind === 'group' ? [state] : []))
      .filter(({ status }) => status === 'settled' || status === 'reverted')
      .map(({ status, id }) => `group.${status} ${id}`)
    const readGroups = all
      .filter(({ content }) => content.kind === 'group')
      .map(({ name, subject }) => `${name} ${subject}`)
    this.equal('E1: the log has', readGroups.toSorted(), groups.toSorted())
    const repeated = all.length - new Set(all.map(({ id }) => id)).size
    this.demand(repeated === 0, `E1: ${repeated} events have the ID of another`)
  }

  /** E1 and E2 of the histories of NFTs. */
  private nfts(all: readonly LedgerEvent[]): void {
    const histories = new Map<string, number>()
    const read = all.flatMap(({ name, subject, content }) => {
      if (content.kind !== 'nft') return []
      const { number } = content.event
      const before = histories.get(subject) ?? 0
      this.demand(number === before, `E2: entry ${number} of ${subject} is read after ${before} others`)
      histories.set(subject, before + 1)
      return [`${name} ${subject} ${number}`]
    })
    const written = this.database.rows.nftEvents
      .all()
      .map(({ nftId, event: { type, number } }) => `nft.${NFT_EVENTS[type]} ${nftId} ${number}`)
    this.equal('E1: the log has', read.toSorted(), written.toSorted())
  }

  /** E1 and E2 of attestations. */
  private attestations(all: readonly LedgerEvent[], attested: ReadonlySet<string>): void {
    const stored = [...this.database.attestations.attestations.values()]
    const read = all.flatMap(({ name, content }) =>
      content.kind === 'attestation' ? [`${name} ${content.attestation.attestationId}`] : [],
    )
    const written = stored.flatMap(({ attestationId, revocation }) => [
      `attestation.created ${attestationId}`,
      ...(revocation === null ? [] : [`attestation.revoked ${attestationId}`]),
    ])
    this.equal('E1: the log has', read.toSorted(), written.toSorted())
    const places = new Map(read.map((event, index) => [event, index]))
    for (const event of attested) this.demand(places.has(event), `E1: the log lacks ${event}`)
    for (const { attestationId } of stored) {
      const [created = -1, revoked = Infinity] = ['created', 'revoked'].map((event) =>
        places.get(`attestation.${event} ${attestationId}`),
      )
      this.demand(created < revoked, `E2: ${attestationId} is revoked before it is created`)
    }
  }

  /** E2. */
  private chains(all: readonly LedgerEvent[]): void {
    const { rows } = this.database
    const entries = new Map(
      [...rows.transactions.values()].map(({ transaction: { txnId, sequence } }) => [txnId, sequence]),
    )
    const lengths = new Map<string, number>()
    for (const event of all) {
      const { subject, content } = event
      const sequence = content.kind === 'entry' ? content.entry.sequence : entries.get(txnIdOf(event) ?? '')
      if (sequence === undefined || sequence === null) continue
      const length = lengths.get(subject) ?? 0
      this.demand(sequence === length, `E2: entry ${sequence} of ${subject} is read after ${length} others`)
      lengths.set(subject, length + 1)
    }
    const inChains = [...rows.entries.values()].flat().length
    const read = [...lengths.values()].reduce((sum, length) => sum + length, 0)
    this.demand(read === inChains, `E2: chains have ${inChains} entries, and ${read} were read`)
  }

  private follow(): void {
    const { from, to } = PAUSE_MS
    const schedule = this.database.kernel.beside('event reader')
    const next = (): void => {
      schedule(this.random.between(from, to), 'a reader of events asks', () => {
        next()
        void this.readPage()
      })
    }
    next()
  }

  /** Reads on from its cursor, the last event that it handled. Returns true at the end of the log. */
  private async readPage(): Promise<boolean> {
    try {
      const page = await this.events.read(this.cursor, 1 + this.random.integer(LARGEST_PAGE))
      this.seen(page)
      const handled = this.random.chance(0.2) ? page.events.slice(0, 1) : page.events
      this.followed.push(...handled.map(placeOf))
      const isWhole = handled.length === page.events.length
      if (!isWhole) this.database.kernel.count('events:resumed')
      this.cursor = isWhole ? page.next : (handled.at(-1)?.position ?? this.cursor)
      return isWhole && page.atEnd
    } catch (error) {
      if (!(error instanceof Error) || !error.name.startsWith('Event')) throw error
      if (error.name === 'EventPositionForeign') {
        this.cursor = null
        this.followed = []
        this.database.kernel.count('events:position_foreign')
      }
      return false
    }
  }

  private equal(what: string, found: readonly string[], expected: readonly string[]): void {
    const index = expected.findIndex((one, place) => found[place] !== one)
    const at = index === -1 ? expected.length : index
    const isEqual = index === -1 && found.length === expected.length
    this.demand(isEqual, `${what} ${found.length} of ${expected.length}; ${found[at]} where ${expected[at]} belongs`)
  }
}

function txnIdOf({ content }: LedgerEvent): string | undefined {
  return 'transaction' in content ? content.transaction.txnId : undefined
}

function placeOf({ id, position }: LedgerEvent): string {
  return `${position} ${id}`
}

function databaseOf(position: EventPosition): string | undefined {
  return position.split('.')[0]
}
