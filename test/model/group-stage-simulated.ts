/** The scene in a simulated cluster: requests as the edge sends them, and what the committed rows show. */
import { createHash } from 'node:crypto'
import { accountAddress, groupAddress } from '../../actors/address.ts'
import { availableOf, balanceOf } from '../../actors/account/state.ts'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { groupViewOf } from '../../actors/group/state.ts'
import { formatQuantity } from '../../actors/money.ts'
import type { Answer } from '../../actors/account/outcome.ts'
import { uuidOf } from '../../actors/identifiers.ts'
import type { Operation } from '../../runtime/protocol/messages.ts'
import { simPublicKey, simSign } from '../simulation/sim-signer.ts'
import { CALLER } from '../support/accounts.ts'
import type { GroupStage, SetStage } from './group-driver.ts'
import { type Action, type Answered, FUNDS, type Name, type Scene, type Seen } from './group-model.ts'
import { legFieldsOf, nameOf } from './group-scene.ts'
import type { SimulatedLedger } from './simulated-ledger.ts'

/** Virtual, all of these. A path that does not wait for the group's time is walked long before it is over. */
const SHORT_SECONDS = 5
export const LONG_SECONDS = 60
const MOMENT_MS = 20
const PATIENCE_MS = 20_000

let serial = 0

/** Accounts and groups of each stage have names of their own: one ledger serves all paths. */
export function simulatedStage(ledger: SimulatedLedger): SetStage {
  return async (scene, timesOut) => {
    serial += 1
    const stage = new SimulatedStage(ledger, scene, `s${serial}`, timesOut ? SHORT_SECONDS : LONG_SECONDS)
    await stage.enter(scene.accounts.filter((name) => !scene.missing.includes(name)))
    return stage
  }
}

class SimulatedStage implements GroupStage {
  private readonly ledger: SimulatedLedger
  private readonly scene: Scene
  private readonly prefix: string
  private readonly groupId: string
  private readonly timeoutSeconds: number
  private readonly terms: string
  private orders = 0
  private waitedMs = 0

  constructor(ledger: SimulatedLedger, scene: Scene, prefix: string, timeoutSeconds: number) {
    this.ledger = ledger
    this.scene = scene
    this.prefix = prefix
    this.groupId = uuidOf(`group of ${prefix}`)
    this.timeoutSeconds = timeoutSeconds
    const fields = { group_id: this.groupId, legs: legFieldsOf(scene, prefix), timeout_seconds: timeoutSeconds }
    this.terms = canonicalJson(fields)
  }

  async enter(names: readonly Name[]): Promise<void> {
    for (const name of names) {
      const key = { keyId: `id of ${simPublicKey(this.id(name))}`, publicKey: simPublicKey(this.id(name)) }
      await this.ofAccount(name, { kind: 'register', key, registrationKey: null })
      await this.submit(name, { type: 'credit', amount: `${FUNDS}` })
    }
  }

  async act(action: Action): Promise<Answered> {
    this.waitedMs = 0
    switch (action.type) {
      case 'register':
      case 'register_again':
        return this.ofGroup({ kind: 'register_group', payload: this.terms, registrationKey: null })
      case 'open_missing':
        await this.enter(this.scene.missing)
        return 'accepted'
      case 'fail': {
        const name = this.legOf(action.leg).account
        await this.submit(name, { type: 'debit', amount: this.balance(name)?.available ?? '0' })
        return this.take(action.leg)
      }
      case 'take':
      case 'take_again':
        return this.take(action.leg)
      case 'time_out':
        await this.ledger.kernel.runFor(this.timeoutSeconds * 1_000)
        return 'accepted'
      case 'revert':
      case 'revert_again':
        return this.ofGroup({ kind: 'revert_group', reason: 'because', transactions: [] })
    }
  }

  seen(): Promise<Seen> {
    const { rows } = this.ledger.database
    const address = groupAddress(this.groupId)
    const state = rows.actors.state({ shardId: this.ledger.homeOf(address), address })
    const group = state?.kind === 'group' ? groupViewOf(state) : undefined
    const transactions = [...rows.transactionTable.byKey.values()]
      .filter(({ transaction }) => transaction.groupId === this.groupId)
      .map(({ transaction: { accountId, type, amount, status } }) => `${nameOf(accountId)} ${type} ${amount} ${status}`)
    return Promise.resolve({
      group: group?.status ?? 'absent',
      legs: group?.legs.map(({ status }) => status) ?? [],
      transactions: transactions.sort(),
      compensations: group?.compensations.length ?? 0,
      partialFailures: group?.partialFailures.length ?? 0,
      balances: Object.fromEntries(this.scene.accounts.map((name) => [name, this.balance(name)])),
    })
  }

  async goOn(): Promise<boolean> {
    await this.ledger.kernel.runFor(MOMENT_MS)
    this.waitedMs += MOMENT_MS
    return this.waitedMs < PATIENCE_MS
  }

  private id(name: Name): string {
    return `${this.prefix}.${name}`
  }

  private legOf(leg: number) {
    const found = this.scene.legs[leg]
    if (found === undefined) throw new Error(`There is no leg ${leg}.`)
    return found
  }

  private take(leg: number): Promise<Answered> {
    const { account } = this.legOf(leg)
    const { account_id: _, ...agreed } = legFieldsOf(this.scene, this.prefix)[leg] ?? {}
    const hash = createHash('sha256').update(this.terms).digest('hex')
    return this.submit(account, { ...agreed, group_id: this.groupId, terms_hash: `sha256:${hash}` })
  }

  private submit(name: Name, fields: JsonObject): Promise<Answered> {
    this.orders += 1
    const body = { ...fields, account_id: this.id(name), idempotency_key: `order ${this.orders}` }
    const payload = canonicalJson(body)
    return this.ofAccount(name, { kind: 'submit', payload, signature: simSign(this.id(name), payload) })
  }

  private async ofAccount(name: Name, operation: Operation): Promise<Answered> {
    return answered(await this.ledger.ask({ actor: accountAddress(this.id(name)), caller: CALLER, operation }))
  }

  private async ofGroup(operation: Operation): Promise<Answered> {
    return answered(await this.ledger.ask({ actor: groupAddress(this.groupId), caller: CALLER, operation }))
  }

  private balance(name: Name) {
    const accountId = this.id(name)
    const shardId = this.ledger.homeOf(accountAddress(accountId))
    const account = this.ledger.database.rows.account({ shardId, accountId })
    if (account === undefined) return null
    const held = balanceOf(account, 'BASE')
    return {
      balance: formatQuantity(held.balance),
      available: formatQuantity(availableOf(held)),
      incoming: formatQuantity(held.incoming),
    }
  }
}

function answered({ kind }: Answer): Answered {
  return kind === 'refused' ? 'refused' : 'accepted'
}
