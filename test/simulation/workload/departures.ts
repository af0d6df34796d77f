/** Accounts that depart to another ledger, token by token, and accounts that are erased. */
import { accountAddress } from '../../../actors/address.ts'
import type { Answer } from '../../../actors/account/outcome.ts'
import type { Operation } from '../../../runtime/protocol/messages.ts'
import { CALLER, type Cast, type ClientAccount } from './cast.ts'
import { verdict } from './holding.ts'

const ROUNDS = 3
const KNOWN_TOKENS = 3
/** The account must be frozen, and other clients may reactivate it. */
const TRIES = 2

export class DepartureRequests {
  private readonly cast: Cast

  constructor(cast: Cast) {
    this.cast = cast
  }

  async play(durationMs: number): Promise<void> {
    const { random } = this.cast
    await this.cast.pause(random.between(0.3, 0.9) * durationMs)
    if (random.chance(0.6)) await this.move(this.candidate())
    else await this.close(this.candidate())
  }

  /** An account that receives few requests. */
  private candidate(): ClientAccount {
    const { accounts, random } = this.cast
    const from = Math.floor(accounts.length / 2)
    return this.cast.accountAt(from + random.integer(accounts.length - from))
  }

  private async move({ accountId }: ClientAccount): Promise<void> {
    const { random, world } = this.cast
    const audience = random.pick(['ledger there', 'ledger far'])
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (tries > 0 || random.chance(0.5)) await this.changed(accountId, 'frozen')
      const left = await this.depart(accountId, audience)
      if (left === 'gone') {
        world.kernel.count('departure:gone')
        if (random.chance(0.5)) await this.depart(accountId, audience)
        if (random.chance(0.6)) await this.erase(accountId)
        return
      }
      if (left === 'refused') break
    }
    await this.changed(accountId, 'active')
  }

  /** Departs with all known assets until the account is empty. */
  private async depart(accountId: string, audience: string): Promise<'gone' | 'again' | 'refused'> {
    const { random, tokens } = this.cast
    const assets = ['BASE', ...tokens.slice(0, KNOWN_TOKENS).map(({ tokenId }) => tokenId)]
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const tokenId of assets) {
        const said = await this.ask(accountId, { kind: 'depart', audience, tokenId })
        if (said.kind === 'refused') return isFinal(said) ? 'refused' : 'again'
        if (random.chance(0.2)) await this.ask(accountId, { kind: 'depart', audience: 'ledger nowhere', tokenId })
      }
      const said = await this.ask(accountId, { kind: 'depart', audience, tokenId: null })
      if (said.kind === 'departed') return 'gone'
      if (said.kind === 'refused' && said.code !== 'account_not_empty') return 'again'
    }
    return 'refused'
  }

  /** Closes the account and requests its erasure, sometimes without waiting. */
  private async close({ accountId }: ClientAccount): Promise<void> {
    if (this.cast.random.chance(0.5)) {
      const closed = this.changed(accountId, 'closed')
      await Promise.all([closed, this.erase(accountId)])
    } else {
      await this.changed(accountId, 'closed')
      await this.erase(accountId)
    }
  }

  private async erase(accountId: string): Promise<void> {
    const { random, world } = this.cast
    const reason = this.cast.name('erasure')
    world.imports.erases(accountId, reason)
    const operation = { kind: 'erase', reason } as const
    const times = random.chance(0.3) ? 2 : 1
    const said = await Promise.all(Array.from({ length: times }, () => this.ask(accountId, operation)))
    if (said.some((one) => one.kind === 'status_changed')) world.kernel.count('erasure:done')
  }

  private async changed(accountId: string, status: 'active' | 'frozen' | 'closed'): Promise<Answer> {
    const reason = this.cast.name('reason')
    return this.ask(accountId, { kind: 'change_status', status, incoming: null, reason })
  }

  private ask(accountId: string, operation: Operation): Promise<Answer> {
    const { random, world, ask } = this.cast
    const actor = accountAddress(accountId)
    if (operation.kind === 'depart') world.imports.departs(accountId, operation.audience, operation.tokenId)
    if (random.chance(0.08)) void ask({ actor, caller: CALLER, operation }, false)
    return verdict(this.cast, actor, operation)
  }
}

/** An account that owns NFTs or has pending holds may wait for long. */
function isFinal({ code }: Extract<Answer, { kind: 'refused' }>): boolean {
  return code !== 'account_not_frozen'
}
