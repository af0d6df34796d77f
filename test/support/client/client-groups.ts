/** Settlement groups as their parties agree on them: the terms, their hash by the documented rule, and the legs. */
import { createHash, randomUUID } from 'node:crypto'
import { type Holder, type HttpReply, type LedgerClient } from './client.ts'
import { canonical, type Members } from './client-keys.ts'
import { WAITING } from './client-moves.ts'

/** The default timeout of a registration. */
const DEFAULT_TIMEOUT_SECONDS = 900

export interface Agreement {
  readonly groupId: string
  readonly legs: readonly Members[]
  readonly timeoutSeconds: number
  /** `sha256:<hex>` of the canonical {group_id in lower case, legs as sent, timeout_seconds in force}. */
  readonly termsHash: string
  /** The body. */
  readonly body: Members
}

/** `timeoutSeconds` null: the body names none. */
export function agreementOn(
  legs: readonly Members[],
  timeoutSeconds: number | null = 60,
  groupId: string = randomUUID(),
): Agreement {
  const inForce = timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS
  return {
    groupId: groupId.toLowerCase(),
    legs,
    timeoutSeconds: inForce,
    termsHash: termsHashOf(groupId, legs, inForce),
    body: { group_id: groupId, legs, ...(timeoutSeconds === null ? {} : { timeout_seconds: timeoutSeconds }) },
  }
}

export function termsHashOf(groupId: string, legs: readonly Members[], timeoutSeconds: number): string {
  const terms = canonical({ group_id: groupId.toLowerCase(), legs, timeout_seconds: timeoutSeconds })
  return `sha256:${createHash('sha256').update(terms).digest('hex')}`
}

export function registerGroup(
  client: LedgerClient,
  { body }: Agreement,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpReply> {
  return client.post('/v1/settlement-groups', body, headers)
}

/** Registers what must be taken, again after each 503 as every client does, and returns the agreement. */
export async function agreed(client: LedgerClient, agreement: Agreement): Promise<Agreement> {
  let reply = await registerGroup(client, agreement)
  while (reply.status === 503) reply = await registerGroup(client, agreement)
  if (reply.status !== 201 && reply.status !== 200)
    throw new Error(`registration of the group: ${reply.status} ${reply.body}`)
  return agreement
}

/** The fields of the submission that the leg waits for. */
export function legFields({ groupId, legs, termsHash }: Agreement, index: number): Members {
  const { account_id: _, boundary: __, ...fields } = legs[index] ?? {}
  return { ...fields, group_id: groupId, terms_hash: termsHash }
}

export function groupOf(client: LedgerClient, groupId: string): Promise<Members> {
  return client.read(`/v1/settlement-groups/${groupId}`)
}

/** The group once it is final. */
export async function finalGroup(client: LedgerClient, { groupId }: Agreement): Promise<Members> {
  const group = await client.read(`/v1/settlement-groups/${groupId}`, WAITING)
  if (group['status'] === 'open' || group['status'] === 'reverting') {
    throw new Error(`the group does not end: ${JSON.stringify(group)}`)
  }
  return group
}

/** A debit of one and a credit of the other. */
export function payment(from: Holder, to: Holder, amount: string, tokenId = 'BASE'): readonly Members[] {
  return [
    { account_id: from.accountId, type: 'debit', amount, token_id: tokenId },
    { account_id: to.accountId, type: 'credit', amount, token_id: tokenId },
  ]
}
