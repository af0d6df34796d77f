/** Clients that create, capture and release holds at random, and retry each request until it has a reply. */
import { type Holder, type HttpReply, type LedgerClient, membersOf } from '../../support/client/client.ts'
import { type Members, signed } from '../../support/client/client-keys.ts'
import { inMs, keyed } from '../../support/client/client-moves.ts'
import { until } from '../../support/processes/cluster-process.ts'

export interface SentHold {
  readonly holdId: string
  readonly payer: string
  readonly beneficiary: Holder
}

const BACK_OFF_MS = 40
/** In whole units of the base unit; captures are smaller, and sometimes larger. */
export const HOLD_AMOUNT = 10
/** Holds expire within this time. */
const LONGEST_MS = 20_000
/** The newest holds, which most requests are about: they race. */
const NEWEST = 40

export class HoldLoad {
  readonly holds: SentHold[] = []
  /** Replies that violate the interface. */
  readonly surprises: string[] = []
  /** Requests without a reply, and replies with status 503. */
  setbacks = 0
  /** Captures, releases and creations with a reply. */
  answered = 0
  private readonly client: LedgerClient
  private readonly payers: readonly Holder[]
  private readonly beneficiaries: readonly Holder[]
  private workers: readonly Promise<void>[] = []

  constructor(client: LedgerClient, payers: readonly Holder[], beneficiaries: readonly Holder[]) {
    this.client = client
    this.payers = payers
    this.beneficiaries = beneficiaries
  }

  start(clients: number, requests: number): void {
    this.workers = Array.from({ length: clients }, () => this.work(requests))
  }

  async finish(timeoutMs: number): Promise<void> {
    let ended = false
    void Promise.all(this.workers).then(() => {
      ended = true
    })
    await until('every request has a reply', timeoutMs, () => ended)
  }

  private async work(requests: number): Promise<void> {
    while (this.answered < requests && this.surprises.length === 0) {
      const newest = this.holds.slice(-NEWEST)
      const hold = oneOf(newest)
      if (hold === undefined || newest.length < NEWEST || Math.random() < 0.1) await this.create()
      else if (Math.random() < 0.9) await this.capture(hold)
      else await this.release(hold)
    }
  }

  private async create(): Promise<void> {
    const [payer, beneficiary] = [oneOf(this.payers), oneOf(this.beneficiaries)]
    if (payer === undefined || beneficiary === undefined) throw new Error('there are no accounts')
    const fields = {
      account_id: payer.accountId,
      to_account_id: beneficiary.accountId,
      amount: String(HOLD_AMOUNT),
      expires_at: inMs(500 + Math.random() * LONGEST_MS),
    }
    const reply = await this.answer('/v1/holds', signed(keyed(fields), payer.keys.privateKey), [201, 400, 409])
    if (reply?.status !== 201) return
    this.holds.push({ holdId: String(membersOf(reply)['hold_id']), payer: payer.accountId, beneficiary })
  }

  private async capture({ holdId, beneficiary }: SentHold): Promise<void> {
    const fields = {
      account_id: beneficiary.accountId,
      hold_id: holdId,
      amount: String(1 + Math.floor(Math.random() * 0.6 * HOLD_AMOUNT)),
      final: Math.random() < 0.05,
    }
    await this.answer(`/v1/holds/${holdId}/captures`, signed(keyed(fields), beneficiary.keys.privateKey), [202])
  }

  private async release({ holdId, beneficiary }: SentHold): Promise<void> {
    const body = signed({ account_id: beneficiary.accountId, hold_id: holdId }, beneficiary.keys.privateKey)
    await this.answer(`/v1/holds/${holdId}/release`, body, [200])
  }

  /** Sends the same body until there is a reply; undefined after a surprise. */
  private async answer(path: string, body: Members, expected: readonly number[]): Promise<HttpReply | undefined> {
    while (this.surprises.length === 0) {
      const reply = await this.client.post(path, body).catch(() => undefined)
      if (reply !== undefined && expected.includes(reply.status)) {
        this.answered += 1
        return reply
      }
      if (reply !== undefined && reply.status !== 503)
        this.surprises.push(`POST ${path}: ${reply.status} ${reply.body}`)
      this.setbacks += 1
      await new Promise((resolve) => setTimeout(resolve, BACK_OFF_MS))
    }
    return undefined
  }
}

function oneOf<T>(all: readonly T[]): T | undefined {
  return all[Math.floor(Math.random() * all.length)]
}
