/** Clients' requests about an account alone: credits, debits, keys, its status, and orders to be refused. */
import { accountAddress } from '../../../actors/address.ts'
import { canonicalJson } from '../../../actors/canonical-json.ts'
import type { Operation } from '../../../runtime/protocol/messages.ts'
import type { GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import { LEDGER_ID } from '../cluster/cluster-node.ts'
import { POISON } from '../store/rows.ts'
import { simSign } from '../cluster/sim-signer.ts'
import { CALLER, type Cast, type ClientAccount, STRANGER } from './cast.ts'

/** Whole units: nearly the largest balance, less a reserve for the current holdings. */
const NEARLY_ALL = 10n ** 18n - 8_192n
const HALVES = [4_096, 2_048, 1_024, 512, 256, 128, 64, 32, 16, 8, 4]

/** The last accounts receive few requests: these are closed now and then. */
const CLOSED_OFTEN = 2

export class AccountRequests {
  private readonly cast: Cast

  constructor(cast: Cast) {
    this.cast = cast
  }

  draw(account: ClientAccount): GatewayRequest {
    const kind = this.cast.random.fraction()
    if (kind < 0.01) return this.fillUp(account)
    if (kind < 0.34) return this.credit(account)
    if (kind < 0.58) return this.cast.submission(account, 'debit', { token_id: this.heldAsset() })
    if (kind < 0.74) return this.repeat(account)
    if (kind < 0.8) return this.rotation(account)
    if (kind < 0.89) return this.statusChange(account)
    if (kind < 0.91) return this.registration(account)
    if (kind < 0.93) return this.pause(account)
    return this.oddity(account)
  }

  /** The first credit of a run is enough for the requests that follow. */
  private credit(account: ClientAccount): GatewayRequest {
    const amount = this.cast.random.chance(0.3) ? `${200 + this.cast.random.integer(300)}` : this.cast.amount()
    return this.cast.submission(account, 'credit', { amount })
  }

  /**
   * Fills the account to its limit: half of the remainder, a quarter of it, and so on, each accepted if it fits.
   * Promised or returning value then only has the room kept for it. Alternatively debits nearly all of it.
   */
  private fillUp(account: ClientAccount): GatewayRequest {
    if (this.cast.random.chance(0.3)) return this.cast.submission(account, 'debit', { amount: `${NEARLY_ALL}` })
    for (const { tokenId } of this.cast.tokens.slice(0, 2)) this.offer(account, tokenId)
    void this.credits(account, [`${NEARLY_ALL}`, ...HALVES.map(String)])
    return this.cast.submission(account, 'credit', {})
  }

  private async credits(account: ClientAccount, amounts: readonly string[]): Promise<void> {
    for (const amount of amounts) {
      this.cast.send(account, this.cast.submission(account, 'credit', { amount }))
      await this.cast.pause(this.cast.random.between(0, 200))
    }
  }

  /** Keeps room until a counterparty takes the offer. */
  private offer(account: ClientAccount, tokenId: string): void {
    const offer = this.cast.submission(account, 'exchange', {
      amount: '1',
      token_id: tokenId,
      to_account_id: this.cast.counterparty(account).accountId,
      receive: { token_id: 'BASE', amount: '30' },
      group_id: this.cast.groupId(),
      expires_at: this.cast.expiresAt(this.cast.random.between(2_000, 8_000)),
    })
    this.cast.send(account, offer)
  }

  registration(account: ClientAccount): GatewayRequest {
    const { random } = this.cast
    const first = account.keys[0] ?? ''
    const seed = account.sent.length > 0 && random.chance(0.2) ? this.cast.name('other key') : first
    const registrationKey = random.chance(0.5) ? `registration ${account.accountId}` : null
    const operation: Operation = { kind: 'register', key: this.cast.bring(seed), registrationKey }
    return { actor: accountAddress(account.accountId), caller: CALLER, operation }
  }

  /** Mostly the base unit, which is named only sometimes. */
  private heldAsset(): string | undefined {
    return this.cast.random.chance(0.7) ? undefined : this.cast.pickAsset()
  }

  /** Reuses a key: with the same bytes, the same order signed again, or another order. */
  private repeat(account: ClientAccount): GatewayRequest {
    const { random } = this.cast
    const earlier = account.sent[random.integer(account.sent.length)]
    const operation = earlier?.operation
    if (earlier === undefined || (operation?.kind !== 'submit' && operation?.kind !== 'rotate_key')) {
      return this.cast.submission(account, 'credit', {})
    }
    const kind = random.fraction()
    if (kind < 0.6 || operation.kind === 'rotate_key') return earlier
    const seed = account.keys.at(-1) ?? ''
    const { payload } = operation
    if (kind < 0.8) return { ...earlier, operation: { ...operation, signature: simSign(seed, payload) } }
    const fields = JSON.parse(payload) as Record<string, string>
    // An NFT's amount is always one.
    const other = 'class_id' in fields ? { metadata: { note: 'again' } } : { amount: this.cast.amount() }
    const changed = canonicalJson({ ...fields, ...other })
    return { ...earlier, operation: { kind: 'submit', payload: changed, signature: simSign(seed, changed) } }
  }

  private rotation(account: ClientAccount): GatewayRequest {
    const { random } = this.cast
    const oldSeed = account.keys.at(-1) ?? ''
    const newSeed = this.cast.name(`${account.accountId} key`)
    const newKey = this.cast.bring(newSeed)
    const body = {
      account_id: account.accountId,
      public_key: newKey.publicKey,
      ...(account.usedThere !== undefined && random.chance(0.9) ? { ledger_id: LEDGER_ID } : {}),
      idempotency_key: this.cast.orderKey(account, 'key_rotation', 'rotation'),
    }
    const payload = canonicalJson(body)
    const proof = random.chance(0.5) ? simSign(random.chance(0.1) ? oldSeed : newSeed, payload) : null
    const operation: Operation = { kind: 'rotate_key', payload, signature: simSign(oldSeed, payload), proof }
    return { actor: accountAddress(account.accountId), caller: CALLER, operation }
  }

  private statusChange(account: ClientAccount): GatewayRequest {
    const { random } = this.cast
    const isCold = this.cast.accounts.indexOf(account) >= this.cast.accounts.length - CLOSED_OFTEN
    const closes = random.chance(isCold ? 0.3 : 0.04)
    const status = closes ? 'closed' : random.pick(['active', 'active', 'active', 'active', 'frozen', null] as const)
    const incoming = random.pick([null, 'accept', 'accept', 'refuse'] as const)
    const operation: Operation = { kind: 'change_status', status, incoming, reason: this.cast.name('reason') }
    return { actor: accountAddress(account.accountId), caller: CALLER, operation }
  }

  /** Resumed soon, because most operations of an account send value. */
  private pause(account: ClientAccount): GatewayRequest {
    const actor = accountAddress(account.accountId)
    const reason = this.cast.name('pause')
    void this.resume(account, { actor, caller: CALLER, operation: { kind: 'resume', reason } })
    const operation = this.cast.random.pick<Operation>([{ kind: 'pause', reason }, { kind: 'show_actor' }])
    return { actor, caller: CALLER, operation }
  }

  private async resume(account: ClientAccount, request: GatewayRequest): Promise<void> {
    await this.cast.pause(this.cast.random.between(200, 3_000))
    this.cast.send(account, request)
  }

  private oddity(account: ClientAccount): GatewayRequest {
    const { random } = this.cast
    const unknown: ClientAccount = { accountId: `nobody-${random.integer(3)}`, keys: account.keys, sent: [] }
    switch (random.integer(10)) {
      case 0:
        return this.cast.submission(account, 'debit', {}, 'a forger')
      case 1:
        return this.cast.submission(unknown, 'credit', {})
      case 2:
        return this.cast.submission(account, 'credit', { token_id: 'NOPE' })
      case 3:
        return this.cast.submission(account, 'credit', { ledger_id: random.chance(0.5) ? LEDGER_ID : 'another' })
      case 4:
        return this.cast.submission(account, 'credit', {
          expires_at: random.chance(0.5) ? '2001-01-01T00:00:00Z' : '2101-01-01T00:00:00Z',
        })
      case 5:
        return this.cast.submission(account, 'credit', { amount: '999999999999999999.5' })
      case 6:
        return this.cast.submission(account, 'transfer', { to_account_id: unknown.accountId })
      case 7:
        return this.cast.submission(account, 'credit', { token_id: this.cast.pickAsset(), amount: '0.123' })
      case 8:
        return { ...this.registration(account), caller: STRANGER }
      default:
        return this.cast.submission(account, 'credit', { metadata: { note: POISON } })
    }
  }
}
