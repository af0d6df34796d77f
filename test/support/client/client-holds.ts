/** Holds as payers and beneficiaries use them, by nothing but the interface. */
import { type Holder, type HttpReply, type LedgerClient, membersOf } from './client.ts'
import { type Members, signed } from './client-keys.ts'
import { ended, inMs, keyed } from './client-moves.ts'

const HOUR_MS = 3_600_000

export function createHold(
  client: LedgerClient,
  { accountId, keys }: Holder,
  to: Holder,
  fields: Members,
): Promise<HttpReply> {
  const body = { account_id: accountId, to_account_id: to.accountId, expires_at: inMs(HOUR_MS), ...keyed(fields) }
  return client.post('/v1/holds', signed(body, keys.privateKey))
}

/** The ID of a hold that must be created. */
export async function heldFor(client: LedgerClient, payer: Holder, to: Holder, fields: Members): Promise<string> {
  const reply = await createHold(client, payer, to, fields)
  if (reply.status !== 201) throw new Error(`${JSON.stringify(fields)}: ${reply.status} ${reply.body}`)
  return String(membersOf(reply)['hold_id'])
}

export function captureHold(
  client: LedgerClient,
  { accountId, keys }: Holder,
  holdId: string,
  fields: Members,
): Promise<HttpReply> {
  const body = { account_id: accountId, hold_id: holdId, ...keyed(fields) }
  return client.post(`/v1/holds/${holdId}/captures`, signed(body, keys.privateKey))
}

/** The transaction of a capture, once it is final. */
export async function captured(
  client: LedgerClient,
  beneficiary: Holder,
  holdId: string,
  fields: Members,
): Promise<Members> {
  const reply = await captureHold(client, beneficiary, holdId, fields)
  if (reply.status !== 202) throw new Error(`${JSON.stringify(fields)}: ${reply.status} ${reply.body}`)
  return ended(client, membersOf(reply))
}

export function releaseHold(client: LedgerClient, { accountId, keys }: Holder, holdId: string): Promise<HttpReply> {
  return client.post(`/v1/holds/${holdId}/release`, signed({ account_id: accountId, hold_id: holdId }, keys.privateKey))
}
