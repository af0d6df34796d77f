/** Dry runs of orders, some of which are submitted afterwards (D24). */
import type { Cast } from './cast.ts'

const ROUNDS = 12
const TYPES: readonly [string, ...string[]] = ['debit', 'debit', 'credit', 'transfer', 'transfer', 'transfer']

export class RehearsalRequests {
  private readonly cast: Cast

  constructor(cast: Cast) {
    this.cast = cast
  }

  async play(durationMs: number): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      await this.cast.pause((this.cast.random.between(0.2, 1.8) * durationMs) / ROUNDS)
      await this.rehearse()
    }
  }

  private async rehearse(): Promise<void> {
    const { ask, random, world } = this.cast
    const account = this.cast.pickAccount()
    const other = this.cast.counterparty(account)
    const type = random.pick(TYPES)
    const receiver = type === 'transfer' ? { to_account_id: other.accountId } : {}
    // A dry run does not look at the key: one that was used would be refused only by the order itself.
    const order = this.cast.submission(account, type, { idempotency_key: this.cast.name('rehearsal'), ...receiver })
    if (order.operation.kind !== 'submit') return
    const said = await ask({ ...order, operation: { ...order.operation, kind: 'dry_run' } }, false)
    if (said?.kind === 'answered' && said.answer.kind === 'dry_run') {
      world.kernel.count(`dry_run:${said.answer.result.outcome}`)
    }
    if (random.chance(0.4)) await ask(order, random.chance(0.5))
  }
}
