/**
 * Imports of a run, driven as edges drive them: everything is held, and then taken, or dropped everywhere.
 *   D1. Whoever drives it asks each home until it has a verdict, and decides by what all of them said.
 *   D2. It is decided once: two that drive it go by what was decided.
 *   D3. Who holds no more has a verdict for everything that it asked, or drops once more when that has expired.
 */
import { type ActorAddress, actorKey } from '../../actors/address.ts'
import type { Operation } from '../../runtime/protocol/messages.ts'
import { hashesOf, type Import, type SignedOver } from './reference-imports.ts'
import { AccountRequests } from './workload-accounts.ts'
import { CALLER, type Cast } from './workload-cast.ts'
import { drawExport, type Exported, importOf, tokenOf } from './workload-exports.ts'
import { Holding, verdict } from './workload-holding.ts'

/** After it nobody steps what was asked: longer than the deadline of a gateway, and than clocks are wrong. */
const EXPIRED_MS = 18_000
const LATE_MS = 2_000
const IMPATIENT_MS = 150

export class ImportRequests {
  private readonly cast: Cast

  constructor(cast: Cast) {
    this.cast = cast
  }

  /** Resolves when everything is taken or dropped, as often as it came. */
  async play(durationMs: number): Promise<void> {
    const { random } = this.cast
    await this.cast.pause(random.between(0, 0.6 * durationMs))
    const exported = drawExport(this.cast, random.pick(['there', 'yonder']))
    const early = random.chance(0.5)
    if (early) this.enter(exported)
    const token = random.chance(0.3) ? tokenOf(exported) : undefined
    // Its issuer stands for it before it comes itself, or while it comes.
    const part = token === undefined ? undefined : this.bringIn(token)
    if (random.chance(0.6)) await part
    const first = this.bringIn(exported)
    if (random.chance(0.25)) {
      // The same again, as another import: while the first is under way, or when it has ended.
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
    if (!hold.isInDoubt()) return
    this.cast.world.kernel.count('import:dropped_again')
    await this.cast.pause(EXPIRED_MS)
    await this.everywhere(one.records, 'drop_arrival')
  }

  /** Somebody who knows of an account that is to come registers it. */
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
    const of = (...kinds: readonly string[]): readonly SignedOver[] =>
      comes.filter(({ actor }) => kinds.includes(actor.kind))
    await this.everywhere(of('token', 'class'), 'take_arrival')
    this.hurry(exported)
    await this.everywhere(of('account'), 'take_arrival')
    await this.everywhere(of('instance'), 'take_arrival')
  }

  /** In parts, one after another. */
  private async note(
    { importId }: Import,
    { actor, arrival, usedThere }: SignedOver,
    { cut }: Exported,
  ): Promise<void> {
    if (arrival.kind !== 'account' || arrival.account === null || usedThere === null) return
    const hashes = hashesOf(actor.id, arrival.account, usedThere)
    const parts = [hashes.slice(0, cut), hashes.slice(cut)].filter((some) => some.length > 0)
    for (const [part, some] of parts.entries()) {
      await this.demand(actor, { kind: 'note_used_keys', importId, part, hashes: some })
    }
  }

  private async everywhere(records: readonly SignedOver[], kind: 'take_arrival' | 'drop_arrival'): Promise<void> {
    await Promise.all(
      records.map(async ({ actor, from: { importId } }) => {
        await this.cast.pause(this.cast.random.between(0, 60))
        await this.demand(actor, { kind, importId })
      }),
    )
  }

  /** What nobody may refuse any more, but of whom nothing can be read. */
  private async demand(actor: ActorAddress, operation: Operation): Promise<void> {
    const { random, world, ask } = this.cast
    if (random.chance(0.15)) this.cast.later(LATE_MS, () => void ask({ actor, caller: CALLER, operation }, false))
    const answer = await verdict(this.cast, actor, operation)
    if (answer.kind === 'arrival') return
    const latest = world.checker.account(world.homeOf(actor), actor.id).latest()
    const said = answer.kind === 'refused' ? answer.code : answer.kind
    world.checker.demand(latest?.status === 'erased', `A1: ${operation.kind} of ${actorKey(actor)} got ${said}`)
  }

  /** Who is held is there, and may be given something. */
  private give({ accounts }: Exported): void {
    const { random } = this.cast
    const to = accounts[random.integer(accounts.length)]?.player.accountId
    if (to === undefined || !random.chance(0.4)) return
    const giver = this.cast.pickAccount()
    if (giver.accountId === to) return
    this.cast.send(giver, this.cast.submission(giver, 'transfer', { to_account_id: to, amount: '1.5' }))
  }

  /** Owners do not wait until they are told that they are here. */
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

  /** Others play with them from now on. */
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
