/** Holds of an audited ledger: orders of payers and beneficiaries, sent again while the ledger is unavailable. */
import { randomUUID } from 'node:crypto'
import type { Answer } from '../../actors/account/outcome.ts'
import type { HoldView } from '../../actors/hold/state.ts'
import { BASE_UNIT } from '../../actors/money.ts'
import type { Parties, Party } from './audited-ledger.ts'

export async function answered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (failure) {
      if (!String(failure).includes('"kind":"unavailable"')) throw failure
    }
  }
}

/** Holds of one payer for one beneficiary, of the base unit. */
export class PartiesOfHolds {
  private readonly parties: Parties
  readonly payer: Party
  readonly beneficiary: Party

  constructor(parties: Parties, payer: Party, beneficiary: Party) {
    this.parties = parties
    this.payer = payer
    this.beneficiary = beneficiary
  }

  create(amount: string, expiresAtMs: number, key: string = randomUUID()): Promise<Answer> {
    const fields = {
      to_account_id: this.beneficiary.accountId,
      amount,
      expires_at: new Date(expiresAtMs).toISOString(),
      metadata: { order: '7' },
      idempotency_key: key,
    }
    return answered(() =>
      this.parties.signed(this.payer, fields, (payload, signature) => ({ kind: 'create_hold', payload, signature })),
    )
  }

  /** Lasts for an hour unless a time is given. */
  async held(amount: string, expiresAtMs = Date.now() + 3_600_000): Promise<HoldView> {
    const answer = await this.create(amount, expiresAtMs)
    if (answer.kind !== 'hold_created') throw new Error(JSON.stringify(answer))
    return answer.hold
  }

  /** Returns the ID of the capture. */
  async capture(holdId: string, amount: string, final = false): Promise<string> {
    const fields = { hold_id: holdId, amount, final, idempotency_key: randomUUID() }
    const named = { fromAccountId: this.payer.accountId, tokenId: BASE_UNIT }
    const answer = await answered(() =>
      this.parties.signed(this.beneficiary, fields, (payload, signature) => ({
        kind: 'capture',
        payload,
        signature,
        ...named,
      })),
    )
    if (answer.kind !== 'accepted') throw new Error(JSON.stringify(answer))
    return answer.receipt.txnId
  }

  release(holdId: string): Promise<Answer> {
    return answered(() =>
      this.parties.signed(this.beneficiary, { hold_id: holdId }, (payload, signature) => ({
        kind: 'release_hold',
        payload,
        signature,
      })),
    )
  }
}
