/**
 * Imports of a run, driven as edges drive them: all records are held, then all are taken or all are dropped.
 *   D1. The driver asks each home until it has a verdict, and decides by all verdicts.
 *   D2. The decision is made once: all drivers of an import follow it.
 *   D3. A driver that drops does so again after the deadline of its requests: an attempt to hold may arrive late, though
 *       another attempt was answered.
 */
import { type ActorAddress, actorKey } from '../../../actors/address.ts'
import type { Operation } from '../../../runtime/protocol/messages.ts'
import { hashesOf, type Import, type SignedRecord } from '../reference/imports.ts'
import { AccountRequests } from './accounts.ts'
import { CALLER, type Cast } from './cast.ts'
import { drawExport, type Exported, importOf, tokenOf } from './exports.ts'
import { Holding, verdict } from './holding.ts'

/** After this time no request is stepped any more: longer than a gateway's deadline plus the clocks' error. */
const EXPIRED_MS = 18_000
const LATE_MS = 2_000
const IMPATIENT_MS = 150

export class ImportRequests {
  private readonly cast: Cast

  constructor(cast: Cast) {
    this.cast = cast
  }

  /** Resolves when everything is taken or dropped, for every import. */
  async play(durationMs: number): Promise<void> {
    const { random } = this.cast
    await this.cast.pause(random.between(0, 0.6 * durationMs))
    const exported = drawExport(this.cast, random.pick(['there', 'yonder']))
    const early = random.chance(0.5)
    if (early) this.enter(exported)
    const token = random.chance(0.3) ? tokenOf(exported) : undefined
    // The issuer alone may arrive before or while the whole account arrives.
    const part = token === undefined ? undefined : this.bringIn(token)
    if (random.chance(0.6)) await part
    const first = this.bringIn(exported)
    if (random.chance(0.25)) {
      // The same records in another import: while the first is running, or after it has ended.
      if (random.chance(0.7)) await first
      await this.bringIn(exported)
    }
    await Promise.all([first, part])
    if (!early) this.enter(exported)
  }

  private async bringIn(exported: Exported): Promise<void> {
    const { random, world } = this.cast
    const one = importOf(exported, this.cast.groupId())
    world.imports.open(one)
    world.kernel.count('import:begun')
    const drivers = [this.drive(one, exported)]
    if (random.chance(0.2)) {
      world.kernel.count('import:two_drivers')
      await this.cast.pause(random.between(0, 500))
      drivers.push(this.drive(one, exported))
    }
    await Promise.all(drivers)
    world.kernel.count(`import:${one.status}`)
    if (one.status === 'taking') this.learn(exported)
  }

  private async drive(one: Import, exported: Exported): Promise<void> {
    const { random } = this.cast
    const hold = new Holding(this.cast, one)
    this.register(exported, 0.12)
    const isWhole = await hold.all()
    this.register(exported, 0.3)
    if (one.status === 'applying') {
      const isWanted = random.chance(0.92)
      one.status = isWhole && isWanted ? 'taking' : 'refusing'
      one.present = hold.present
    }
    if (one.status === 'taking') {
      await this.take(one, exported)
      return
    }
    await this.everywhere(one.records.toReversed(), 'drop_arrival')
    this.cast.world.kernel.count('import:dropped_again')
    await this.cast.pause(EXPIRED_MS)
    await this.everywhere(one.records, 'drop_arrival')
  }

  /** A client registers an account that is about to be imported. */
  private register({ accounts }: Exported, chance: number): void {
    const { random, ask } = this.cast
    const player = accounts[random.integer(accounts.length)]?.player
    if (player === undefined || !random.chance(chance)) return
    void ask(new AccountRequests(this.cast).registration(player), true)
  }

  private async take(one: Import, exported: Exported): Promise<void> {
    const comes = one.records.filter(({ actor }) => !one.present.has(actorKey(actor)))
    this.give(exported)
    await Promise.all(comes.map((record) => this.note(one, record, exported)))
    const of = (...kinds: readonly string[]): readonly SignedRecord[] =>
      comes.filter(({ actor }) => kinds.includes(actor.kind))
    await this.everywhere(of('token', 'class'), 'take_arrival')
    this.hurry(exported)
    await this.everywhere(of('account'), 'take_arrival')
    await this.everywhere(of('instance'), 'take_arrival')
  }

  /** In parts, one after another. */
  private async note(
    { importId }: Import,
    { actor, arrival, usedThere }: SignedRecord,
    { cut }: Exported,
  ): Promise<void> {
    if (arrival.kind !== 'account' || arrival.account === null || usedThere === null) return
    const hashes = hashesOf(actor.id, arrival.account, usedThere)
    const parts = [hashes.slice(0, cut), hashes.slice(cut)].filter((some) => some.length > 0)
    for (const [part, some] of parts.entries()) {
      await this.demand(actor, { kind: 'note_used_keys', importId, part, hashes: some })
    }
  }

  private async everywhere(records: readonly SignedRecord[], kind: 'take_arrival' | 'drop_arrival'): Promise<void> {
    await Promise.all(
      records.map(async ({ actor, from: { importId } }) => {
        await this.cast.pause(this.cast.random.between(0, 60))
        await this.demand(actor, { kind, importId })
      }),
    )
  }

  /** Sends a request that must not be refused; its effect cannot be read. */
  private async demand(actor: ActorAddress, operation: Operation): Promise<void> {
    const { random, world, ask } = this.cast
    if (random.chance(0.15)) this.cast.later(LATE_MS, () => void ask({ actor, caller: CALLER, operation }, false))
    const answer = await verdict(this.cast, actor, operation)
    if (answer.kind === 'arrival') return
    const latest = world.checker.account(world.homeOf(actor), actor.id).latest()
    const said = answer.kind === 'refused' ? answer.code : answer.kind
    world.checker.demand(latest?.status === 'erased', `A1: ${operation.kind} of ${actorKey(actor)} got ${said}`)
  }

  /** Sends value to an account that is held. */
  private give({ accounts }: Exported): void {
    const { random } = this.cast
    const to = accounts[random.integer(accounts.length)]?.player.accountId
    if (to === undefined || !random.chance(0.4)) return
    const giver = this.cast.pickAccount()
    if (giver.accountId === to) return
    this.cast.send(giver, this.cast.submission(giver, 'transfer', { to_account_id: to, amount: '1.5' }))
  }

  /** Owners submit orders before they learn that their accounts have arrived. */
  private hurry({ accounts }: Exported): void {
    const { random } = this.cast
    for (const { player } of accounts) {
      if (random.chance(0.5)) continue
      for (const key of player.usedThere?.transaction.slice(0, 2) ?? []) {
        const request = this.cast.submission(player, 'credit', { idempotency_key: key })
        this.cast.later(IMPATIENT_MS, () => this.cast.send(player, request))
      }
    }
  }

  /** Other clients use these accounts from now on. */
  private enter({ accounts }: Exported): void {
    for (const { player } of accounts) {
      if (this.cast.find(player.accountId) === undefined) this.cast.joins(player)
    }
  }

  private learn({ token, nft, issuer }: Exported): void {
    const { tokens, classes, nfts } = this.cast
    if (token !== undefined && !tokens.some(({ tokenId }) => tokenId === token.tokenId)) tokens.unshift(token)
    if (nft === undefined) return
    const { class_id: classId, instance_id: instanceId } = nft
    if (!classes.some((known) => known.classId === classId)) classes.push({ classId, issuer })
    nfts.set(`${classId}/${instanceId}`, { ...nft })
  }
}
