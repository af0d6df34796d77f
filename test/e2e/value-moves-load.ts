/**
 * Clients that carry out the orders of a plan and do not give up: what gets no answer, or a 503, is sent again with the
 * same key until there is a verdict. What was acknowledged is kept, to be held against the ledger.
 */
import { type Holder, type HttpReply, type LedgerClient, membersOf, textOf } from '../support/client.ts'
import { type Members, newAccountKeys, signed } from '../support/client-keys.ts'
import type { Credit, ExchangeOrder, GroupOrder, Leg, Order, Plan } from './value-moves-plan.ts'

export interface Acknowledged {
  readonly txnId: string
  readonly accountId: string
  readonly type: string
  readonly amount: string
  readonly tokenId: string
}

/** What a client does before it tries again. */
const BACK_OFF_MS = 40
const OUTCOMES = new Set<unknown>(['not_applied', 'unknown'])
const CONFLICT = 'ERR_CONFLICT'

export class ValueMovesLoad {
  readonly acknowledged: Acknowledged[] = []
  /** By group ID: what was registered, with how many legs were admitted. */
  readonly groups = new Map<string, { readonly order: GroupOrder; admitted: number }>()
  readonly exchanges: { readonly order: ExchangeOrder; readonly txnIds: readonly string[] }[] = []
  /** Answers that no client should ever get. */
  readonly surprises: string[] = []
  /** How often a client was left without an answer, or told 503, or refused what the plan lets be refused. */
  readonly counts = { unanswered: 0, unavailable: 0, refused: 0, reverts: 0 }
  /** Orders that have ended for their client. */
  done = 0
  /** Requests whose verdict is not in. */
  waiting = 0
  private readonly client: LedgerClient
  private readonly plan: Plan
  private readonly holders = new Map<string, Holder>()
  private next = 0
  private workers: readonly Promise<void>[] = []

  constructor(client: LedgerClient, plan: Plan) {
    this.client = client
    this.plan = plan
  }

  /** Accounts, tokens, and money on the accounts. `admin`: who closes the doors of accounts that refuse. */
  async prepare(clients: number, admin: LedgerClient): Promise<void> {
    const { accounts, tokens, credits, refusing } = this.plan
    await this.eachOf(accounts, clients, (accountId) => this.register(accountId))
    await this.eachOf(tokens, clients, async ({ tokenId, decimals, issuer, totalSupply }) => {
      const body = { symbol: tokenId, decimals, issuer, total_supply: totalSupply }
      this.expect(await this.send('/v1/fungible-tokens', body, { 'idempotency-key': tokenId }), 201)
    })
    await this.eachOf(credits, clients, async (credit) => {
      await this.submit(credit, `credit ${credit.tokenId}`, { type: 'credit' })
    })
    await this.eachOf(refusing, clients, async (accountId) => {
      const body = { incoming: 'refuse', reason: 'value moves' }
      const path = `/v1/accounts/${accountId}/status`
      this.expect(await this.untilVerdict(() => admin.post(path, body)), 200)
    })
  }

  start(clients: number): void {
    const { orders } = this.plan
    this.workers = Array.from({ length: clients }, async () => {
      for (let number = this.next++; number < orders.length; number = this.next++) {
        if (this.surprises.length > 0) return
        const order = orders[number]
        if (order !== undefined) await this.carryOut(order, number)
        this.done += 1
      }
    })
  }

  async finish(): Promise<void> {
    await Promise.all(this.workers)
  }

  private async carryOut(order: Order, number: number): Promise<void> {
    switch (order.kind) {
      case 'transfer':
        await this.submit(order, `${number}`, { type: 'transfer', to_account_id: order.toAccountId })
        break
      case 'single':
        await this.submit(order, `${number}`, { type: order.type })
        break
      case 'exchange':
        await this.exchange(order, number)
        break
      case 'group':
        await this.group(order, number)
        break
    }
  }

  /** Both sides at once. */
  private async exchange(order: ExchangeOrder, number: number): Promise<void> {
    const expiresAt = new Date(Date.now() + order.secondsToLive * 1_000).toISOString()
    const txnIds = await Promise.all(
      order.sides.map((side, index) => {
        const { toAccountId, receive } = side
        const receives = { token_id: receive.tokenId, amount: receive.amount }
        const more = { type: 'exchange', group_id: order.groupId, to_account_id: toAccountId, receive: receives }
        // One that was kept waiting for so long has not taken place.
        return this.submit(side, `${number} ${index}`, { ...more, expires_at: expiresAt }, 'ERR_INVALID_TIMESTAMP')
      }),
    )
    this.exchanges.push({ order, txnIds: txnIds.filter((txnId) => txnId !== undefined) })
  }

  private async group(order: GroupOrder, number: number): Promise<void> {
    const registered = await this.registerGroup(order)
    if (registered === undefined) return
    const group = { order, admitted: 0 }
    this.groups.set(order.groupId, group)
    const termsHash = textOf(registered, 'terms_hash')
    const sendLeg = async (place: number): Promise<void> => {
      const leg = order.legs[place]
      if (leg === undefined) return
      const more = { type: leg.type, group_id: order.groupId, terms_hash: termsHash }
      const receiver = leg.toAccountId === null ? {} : { to_account_id: leg.toAccountId }
      const txnId = await this.submit(leg, `${number} ${place}`, { ...more, ...receiver }, CONFLICT)
      if (txnId !== undefined) group.admitted += 1
    }
    const { submitted, revertAfter } = order
    if (revertAfter === null) {
      await Promise.all(submitted.map(sendLeg))
      return
    }
    for (const place of submitted.slice(0, revertAfter)) await sendLeg(place)
    // The legs that are left race with it.
    await Promise.all([this.revert(order.groupId), ...submitted.slice(revertAfter).map(sendLeg)])
  }

  /** undefined: refused. */
  private async registerGroup({ groupId, legs, timeoutSeconds, keyed }: GroupOrder): Promise<Members | undefined> {
    const body = { group_id: groupId, legs: legs.map(legMembers), timeout_seconds: timeoutSeconds }
    const reply = await this.send('/v1/settlement-groups', body, keyed ? { 'idempotency-key': groupId } : {})
    if (reply === undefined || this.isRefused(reply, CONFLICT)) return undefined
    this.expect(reply, 200, 201)
    return membersOf(reply)
  }

  private async revert(groupId: string): Promise<void> {
    const reply = await this.send(`/v1/settlement-groups/${groupId}/revert`, { reason: 'value moves' })
    // It may have settled before.
    if (reply === undefined || this.isRefused(reply, CONFLICT)) return
    this.expect(reply, 202)
    this.counts.reverts += 1
  }

  /** The transaction; undefined when it was refused as `refusal` says, which is a verdict too. */
  private async submit(
    { accountId, tokenId, amount }: Credit,
    key: string,
    more: Members,
    refusal?: string,
  ): Promise<string | undefined> {
    const holder = this.holders.get(accountId)
    if (holder === undefined) throw new Error(`${accountId} is not registered`)
    const fields = { account_id: accountId, token_id: tokenId, amount, idempotency_key: key, ...more }
    const reply = await this.send('/v1/transactions', signed(fields, holder.keys.privateKey))
    if (reply === undefined || (refusal !== undefined && this.isRefused(reply, refusal))) return undefined
    this.expect(reply, 202)
    if (reply.status !== 202) return undefined
    const txnId = textOf(membersOf(reply), 'txn_id')
    this.acknowledged.push({ txnId, accountId, tokenId, amount, type: textOf(more, 'type') })
    return txnId
  }

  private async register(accountId: string): Promise<void> {
    const keys = newAccountKeys()
    this.expect(await this.send('/v1/accounts', { account_id: accountId, public_key: keys.jwk }), 200, 201)
    this.holders.set(accountId, { accountId, keys })
  }

  private send(
    path: string,
    body: Members,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<HttpReply | undefined> {
    const text = JSON.stringify(body)
    return this.untilVerdict(() => this.client.post(path, text, headers))
  }

  private async untilVerdict(attempt: () => Promise<HttpReply>): Promise<HttpReply | undefined> {
    this.waiting += 1
    const verdict = await this.attempts(attempt)
    this.waiting -= 1
    return verdict
  }

  /** undefined: some client was told what none should be told, and all of them stop. */
  private async attempts(attempt: () => Promise<HttpReply>): Promise<HttpReply | undefined> {
    while (this.surprises.length === 0) {
      const reply = await attempt().catch(() => undefined)
      if (reply !== undefined && reply.status !== 503) return reply
      if (reply === undefined) this.counts.unanswered += 1
      else if (OUTCOMES.has(membersOf(reply)['outcome'])) this.counts.unavailable += 1
      else this.surprises.push(`503 without an outcome: ${reply.body}`)
      await new Promise((resolve) => setTimeout(resolve, BACK_OFF_MS))
    }
    return undefined
  }

  private isRefused(reply: HttpReply, code: string): boolean {
    if (reply.status < 400) return false
    const codes = membersOf(reply)['error_codes']
    if (!Array.isArray(codes) || !(codes as readonly unknown[]).includes(code)) return false
    this.counts.refused += 1
    return true
  }

  private expect(reply: HttpReply | undefined, ...statuses: readonly number[]): void {
    if (reply === undefined || statuses.includes(reply.status)) return
    this.surprises.push(`${reply.status} ${reply.body}`)
  }

  private async eachOf<T>(all: readonly T[], clients: number, run: (one: T) => Promise<void>): Promise<void> {
    const queue = [...all]
    const worker = async (): Promise<void> => {
      for (let one = queue.shift(); one !== undefined; one = queue.shift()) await run(one)
    }
    await Promise.all(Array.from({ length: clients }, worker))
  }
}

export function legMembers({ accountId, type, amount, tokenId, toAccountId, boundary }: Leg): Members {
  return {
    account_id: accountId,
    type,
    amount,
    token_id: tokenId,
    ...(toAccountId === null ? {} : { to_account_id: toAccountId }),
    ...(boundary ? { boundary } : {}),
  }
}
