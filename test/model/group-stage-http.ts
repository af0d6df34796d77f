/** The scene at a running ledger, through its HTTP interface only. */
import { randomUUID } from 'node:crypto'
import { type HttpReply, type LedgerClient, membersOf, textOf } from '../support/client/client.ts'
import { type AccountKeys, type Members, newAccountKeys, signed } from '../support/client/client-keys.ts'
import { type Agreement, agreementOn, legFields, registerGroup, revertGroup } from '../support/client/client-groups.ts'
import { WAITING } from '../support/client/client-moves.ts'
import type { GroupStage, SetStage } from './group-driver.ts'
import { type Action, type Answered, FUNDS, type Name, type Scene, type Seen, type SeenBalance } from './group-model.ts'
import { legFieldsOf, nameOf } from './group-scene.ts'

/** Enough for what comes before it on any path. */
const SHORT_SECONDS = 8
const LONG_SECONDS = 900
const MOMENT_MS = 10
const PATIENCE_MS = 20_000

export function httpStage(client: LedgerClient): SetStage {
  return async (scene, timesOut) => {
    const stage = new HttpStage(client, scene, timesOut ? SHORT_SECONDS : LONG_SECONDS)
    await stage.enter(scene.accounts.filter((name) => !scene.missing.includes(name)))
    return stage
  }
}

class HttpStage implements GroupStage {
  private readonly client: LedgerClient
  private readonly scene: Scene
  private readonly prefix = randomUUID()
  private readonly agreement: Agreement
  private readonly keys: ReadonlyMap<Name, AccountKeys>
  private orders = 0
  private patientUntilMs = 0

  constructor(client: LedgerClient, scene: Scene, timeoutSeconds: number) {
    this.client = client
    this.scene = scene
    this.agreement = agreementOn(legFieldsOf(scene, this.prefix), timeoutSeconds)
    this.keys = new Map(scene.accounts.map((name) => [name, newAccountKeys()]))
  }

  async enter(names: readonly Name[]): Promise<void> {
    await Promise.all(
      names.map(async (name) => {
        const body = { account_id: this.id(name), public_key: this.keys.get(name)?.jwk ?? null }
        answered(await this.client.post('/v1/accounts', body))
        await this.submit(name, { type: 'credit', amount: `${FUNDS}` })
      }),
    )
  }

  async act(action: Action): Promise<Answered> {
    const answer = await this.answerTo(action)
    this.patientUntilMs = performance.now() + PATIENCE_MS
    return answer
  }

  private async answerTo(action: Action): Promise<Answered> {
    const { groupId } = this.agreement
    switch (action.type) {
      case 'register':
      case 'register_again':
        return answered(await registerGroup(this.client, this.agreement))
      case 'open_missing':
        await this.enter(this.scene.missing)
        return 'accepted'
      case 'fail': {
        const name = this.legOf(action.leg).account
        await this.submit(name, { type: 'debit', amount: (await this.balance(name))?.available ?? '0' })
        return this.take(action.leg)
      }
      case 'take':
      case 'take_again':
        return this.take(action.leg)
      case 'time_out':
        await this.client.read(`/v1/settlement-groups/${groupId}`, WAITING)
        return 'accepted'
      case 'revert':
      case 'revert_again':
        return answered(await revertGroup(this.client, groupId))
    }
  }

  async seen(): Promise<Seen> {
    const { groupId } = this.agreement
    const [group, transactions, ...balances] = await Promise.all([
      this.find(`/v1/settlement-groups/${groupId}`),
      this.find(`/v1/transactions/group/${groupId}`),
      ...this.scene.accounts.map(async (name) => [name, await this.balance(name)] as const),
    ])
    return {
      group: group === undefined ? 'absent' : textOf(group, 'status'),
      legs: itemsOf(group, 'legs').map((leg) => textOf(leg, 'leg_status')),
      transactions: itemsOf(transactions, 'transactions').map(inWords).sort(),
      compensations: itemsOf(group, 'compensations').length,
      partialFailures: itemsOf(group, 'partial_failures').length,
      balances: Object.fromEntries(balances),
    }
  }

  async goOn(): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, MOMENT_MS))
    return performance.now() < this.patientUntilMs
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
    return this.submit(this.legOf(leg).account, legFields(this.agreement, leg))
  }

  private async submit(name: Name, fields: Members): Promise<Answered> {
    this.orders += 1
    const keys = this.keys.get(name)
    if (keys === undefined) throw new Error(`${name} is not in this scene.`)
    const body = { account_id: this.id(name), idempotency_key: `order ${this.orders}`, ...fields }
    return answered(await this.client.post('/v1/transactions', signed(body, keys.privateKey)))
  }

  private async balance(name: Name): Promise<SeenBalance | null> {
    const found = await this.find(`/v1/accounts/${this.id(name)}/balances/BASE`)
    if (found === undefined) return null
    return {
      balance: textOf(found, 'balance'),
      available: textOf(found, 'available'),
      incoming: textOf(found, 'incoming'),
    }
  }

  /** undefined: there is none. */
  private async find(path: string): Promise<Members | undefined> {
    const reply = await this.client.get(path)
    if (reply.status === 404) return undefined
    if (reply.status !== 200) throw new Error(`GET ${path}: ${reply.status} ${reply.body}`)
    return membersOf(reply)
  }
}

function inWords(transaction: Members): string {
  const [type, amount, status] = ['type', 'amount', 'status'].map((member) => textOf(transaction, member))
  return `${nameOf(textOf(transaction, 'account_id'))} ${type} ${amount} ${status}`
}

function itemsOf(members: Members | undefined, name: string): readonly Members[] {
  return (members?.[name] ?? []) as readonly Members[]
}

function answered({ status, body }: HttpReply): Answered {
  if (status >= 200 && status < 300) return 'accepted'
  // Any other status is a failure of the test.
  if (status === 404 || status === 409) return 'refused'
  throw new Error(`${status} ${body}`)
}
