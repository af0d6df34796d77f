/**
 * Finds the entries of accounts in the log by their tags.
 *   T1. Searched are the tags of each account from its first entry to `ahead` entries behind the last one that is known or
 *       was found. An entry further behind is not noticed.
 *   T2. Within a batch the log has entries in the order of their bytes. A part of the log is therefore searched again,
 *       together with the part before it, for the tags that came into reach by what was found in it. A batch that is not
 *       longer than a part is thus searched as a whole.
 *   T3. The number of tags is bounded.
 */
import { ENTRY_BYTES, EntrySalts, tagOfSalt, TAG_BYTES } from '../log-entry.ts'

export interface WatchedAccount {
  readonly accountId: string
  /** Log key of the account; 32 bytes. */
  readonly key: Buffer
}

export interface SearchedAccount extends WatchedAccount {
  /** The last sequence that is known; -1 without one. */
  readonly highest: number
  /** Entries that were found before, in another part of the log. */
  readonly found: readonly FoundEntry[]
}

export interface FoundEntry {
  readonly sequence: number
  /** Place in the log. */
  readonly place: number
  /** 48 bytes. */
  readonly entry: Buffer
}

/** Entries in consecutive places. */
export interface LogPart {
  readonly first: number
  readonly entries: Buffer
}

/** The bound of T3 is reached. */
export class TooManyTags extends Error {
  override readonly name = 'TooManyTags'
}

/** Some 100 bytes of memory each. */
export const MOST_TAGS = 500_000

interface Place {
  readonly account: WatchedAccount
  readonly sequence: number
}

interface Reach {
  readonly salts: EntrySalts
  /** Highest sequence that is known or was found; -1 without one. */
  highest: number
  /** Sequences below it have tags. */
  until: number
}

export class AccountTags {
  private readonly ahead: number
  private readonly tags = new Map<string, Place>()
  private readonly reaches = new Map<WatchedAccount, Reach>()
  private readonly found = new Map<WatchedAccount, FoundEntry[]>()
  private before: LogPart | undefined

  /** Throws TooManyTags. */
  constructor(accounts: readonly SearchedAccount[], ahead: number) {
    this.ahead = ahead
    for (const account of accounts) {
      const highest = account.found.reduce((most, { sequence }) => Math.max(most, sequence), account.highest)
      this.reaches.set(account, { salts: new EntrySalts(account.key), highest, until: 0 })
      this.found.set(account, [...account.found])
    }
    this.extend()
  }

  /** Takes parts in the order of the log, without gaps. Throws TooManyTags. */
  search(part: LogPart): void {
    this.match(part, this.tags)
    for (let added = this.extend(); added.size > 0; added = this.extend()) {
      if (this.before !== undefined) this.match(this.before, added)
      this.match(part, added)
    }
    this.before = part
  }

  /** In no particular order. */
  all(): ReadonlyMap<WatchedAccount, readonly FoundEntry[]> {
    return this.found
  }

  private match({ first, entries }: LogPart, tags: ReadonlyMap<string, Place>): void {
    if (tags.size === 0) return
    for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
      const hit = tags.get(entries.toString('latin1', at, at + TAG_BYTES))
      if (hit === undefined) continue
      const entry = Buffer.from(entries.subarray(at, at + ENTRY_BYTES))
      this.add(hit, { sequence: hit.sequence, place: first + at / ENTRY_BYTES, entry })
    }
  }

  private add({ account, sequence }: Place, entry: FoundEntry): void {
    const found = this.found.get(account)
    if ((found?.push(entry) ?? 0) > MOST_TAGS)
      throw new TooManyTags(`the log has too many entries of ${account.accountId}`)
    const reach = this.reaches.get(account)
    if (reach !== undefined) reach.highest = Math.max(reach.highest, sequence)
  }

  /** The added tags. */
  private extend(): ReadonlyMap<string, Place> {
    const added = new Map<string, Place>()
    for (const [account, reach] of this.reaches) {
      for (; reach.until <= reach.highest + this.ahead; reach.until += 1) {
        if (this.tags.size >= MOST_TAGS) throw new TooManyTags(`the accounts have more than ${MOST_TAGS} entries`)
        const tag = tagOfSalt(reach.salts.of(reach.until)).toString('latin1')
        const place = { account, sequence: reach.until }
        this.tags.set(tag, place)
        added.set(tag, place)
      }
    }
    return added
  }
}
