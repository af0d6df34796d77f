/** Goal: on covering paths exchanges end in a cluster, over nodes, messages and stores, as the model says; its checkers find nothing. */
import { expect, test } from 'vitest'
import { accountAddress, type ActorAddress, tokenAddress } from '../../actors/address.ts'
import { EXCHANGE_TIMEOUT_MS } from '../../actors/account/pending.ts'
import { availableOf, balanceOf } from '../../actors/account/state.ts'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { uuidOf } from '../../actors/identifiers.ts'
import { formatQuantity } from '../../actors/money.ts'
import type { Operation } from '../../runtime/protocol/messages.ts'
import { simPublicKey, simSign } from '../simulation/sim-signer.ts'
import { CALLER } from '../support/accounts.ts'
import {
  type Action,
  exchangeFields,
  exchangePaths,
  FUNDS,
  issuedBy,
  PARTIES,
  type Party,
  type Seen,
  TOKENS,
} from './exchange-model.ts'
import { type Stage, walk } from './group-driver.ts'
import { coveringPaths } from './group-paths.ts'
import { nameOf } from './group-scene.ts'
import { type SimulatedLedger, startSimulatedLedger } from './simulated-ledger.ts'

/** Virtual, all of these. */
const SHORT_MS = 5_000
const MOMENT_MS = 20
const PATIENCE_MS = 20_000

class SimulatedStage implements Stage<Action, Seen> {
  private readonly ledger: SimulatedLedger
  private readonly prefix: string
  private readonly groupId: string
  /** Offers have little time until it is over. */
  private expires: boolean
  private orders = 0
  private waitedMs = 0

  constructor(ledger: SimulatedLedger, prefix: string, expires: boolean) {
    this.ledger = ledger
    this.prefix = prefix
    this.expires = expires
    this.groupId = uuidOf(`group of ${prefix}`)
  }

  async enter(): Promise<void> {
    for (const party of PARTIES) {
      const publicKey = simPublicKey(this.id(party))
      const key = { keyId: `id of ${publicKey}`, publicKey }
      await this.ask(accountAddress(this.id(party)), { kind: 'register', key, registrationKey: null })
      const symbol = this.id(issuedBy(party))
      const token = { symbol, decimals: 0, issuer: this.id(party), total_supply: `${FUNDS}` }
      const registration = { payload: canonicalJson(token), signature: null, registrationKey: null }
      await this.ask(tokenAddress(symbol), { kind: 'register_token', ...registration })
    }
  }

  async act(action: Action) {
    this.waitedMs = 0
    if (action.type === 'expire') {
      this.expires = false
      await this.ledger.kernel.runFor(SHORT_MS)
      return 'accepted'
    }
    const { by, fields } = exchangeFields(action.offer, (name) => this.id(name))
    const expiresAt = new Date(this.ledger.kernel.wallMs() + SHORT_MS).toISOString()
    return this.submit(by, { ...fields, group_id: this.groupId, ...(this.expires ? { expires_at: expiresAt } : {}) })
  }

  seen(): Promise<Seen> {
    const { rows } = this.ledger.database
    const transactions = [...rows.transactionTable.byKey.values()]
      .filter(({ transaction }) => transaction.groupId === this.groupId)
      .map(({ transaction: { accountId, tokenId, amount, status } }) =>
        [nameOf(accountId), nameOf(tokenId), amount, status].join(' '),
      )
    return Promise.resolve({
      transactions: transactions.sort(),
      balances: PARTIES.flatMap((party) => TOKENS.map((token) => `${party} ${token} ${this.balance(party, token)}`)),
    })
  }

  async goOn(): Promise<boolean> {
    await this.ledger.kernel.runFor(MOMENT_MS)
    this.waitedMs += MOMENT_MS
    return this.waitedMs < PATIENCE_MS
  }

  private id(name: string): string {
    return `${this.prefix}.${name}`
  }

  private balance(party: Party, token: string): string {
    const accountId = this.id(party)
    const shardId = this.ledger.homeOf(accountAddress(accountId))
    const account = this.ledger.database.rows.account({ shardId, accountId })
    if (account === undefined) return 'none'
    const held = balanceOf(account, this.id(token))
    return `${formatQuantity(held.balance)} ${formatQuantity(availableOf(held))}`
  }

  private submit(party: Party, fields: JsonObject) {
    this.orders += 1
    const payload = canonicalJson({ ...fields, account_id: this.id(party), idempotency_key: `order ${this.orders}` })
    const signature = simSign(this.id(party), payload)
    return this.ask(accountAddress(this.id(party)), { kind: 'submit', payload, signature })
  }

  private async ask(actor: ActorAddress, operation: Operation) {
    const { kind } = await this.ledger.ask({ actor, caller: CALLER, operation })
    return kind === 'refused' ? 'refused' : 'accepted'
  }
}

test('every covering path ends as the model says', async () => {
  const ledger = await startSimulatedLedger(1)
  for (const [index, { steps }] of coveringPaths(exchangePaths()).entries()) {
    const expires = steps.some(({ action }) => action.type === 'expire')
    const stage = new SimulatedStage(ledger, `s${index}`, expires)
    await stage.enter()
    await walk(steps, stage)
  }
  expect(await ledger.findingsAfter(EXCHANGE_TIMEOUT_MS + SHORT_MS)).toEqual([])
})
