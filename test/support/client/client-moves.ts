/** Value moves as a client makes them and sees them end, by nothing but the interface. */
import { type Holder, type HttpReply, type LedgerClient, membersOf, textOf } from './client.ts'
import type { Members } from './client-keys.ts'

/** Longer than anything that a test waits for takes; the ledger cuts it to its own bound. */
export const WAITING = { prefer: 'wait=30' }

const NOTHING_HELD: Holding = { balance: '0', available: '0', incoming: '0' }
let keys = 0

/** An idempotency key that no other submission of the tests has. */
export function newKey(): string {
  keys += 1
  return `key ${keys}`
}

/** The fields of a submission under a key of its own. */
export function keyed(fields: Members): Members {
  return { idempotency_key: newKey(), ...fields }
}

/** The 202's body. Throws when it is refused. */
export async function accepted(client: LedgerClient, holder: Holder, fields: Members): Promise<Members> {
  const reply = await client.submit(holder, keyed(fields))
  if (reply.status !== 202) throw new Error(`${JSON.stringify(fields)}: ${reply.status} ${reply.body}`)
  return membersOf(reply)
}

/** The transaction of a 202, once it is final. */
export async function ended(client: LedgerClient, receipt: Members): Promise<Members> {
  const detail = await client.read(`/v1/transactions/${textOf(receipt, 'txn_id')}`, WAITING)
  if (detail['status'] === 'pending') throw new Error(`it does not end: ${JSON.stringify(detail)}`)
  return detail
}

/** Submits and waits for the end, whatever it is. */
export async function submitted(client: LedgerClient, holder: Holder, fields: Members): Promise<Members> {
  return ended(client, await accepted(client, holder, fields))
}

/** Submits what must complete. */
export async function moved(client: LedgerClient, holder: Holder, fields: Members): Promise<Members> {
  const detail = await submitted(client, holder, fields)
  if (detail['status'] !== 'completed') throw new Error(`it did not complete: ${JSON.stringify(detail)}`)
  return detail
}

/** A new account with so much of the base unit, or of a token, from outside the ledger. */
export async function funded(
  client: LedgerClient,
  accountId: string,
  amount: string,
  tokenId = 'BASE',
): Promise<Holder> {
  const holder = await client.register(accountId)
  await moved(client, holder, { type: 'credit', amount, token_id: tokenId })
  return holder
}

export interface Holding {
  readonly balance: string
  readonly available: string
  readonly incoming: string
}

/** The account's balance in the asset; undefined before its first movement. */
export async function holdingOf(client: LedgerClient, accountId: string, tokenId = 'BASE'): Promise<Holding> {
  const reply = await client.get(`/v1/accounts/${accountId}/balances/${tokenId}`)
  if (reply.status === 404) return NOTHING_HELD
  const held = membersOf(reply)
  return { balance: textOf(held, 'balance'), available: textOf(held, 'available'), incoming: textOf(held, 'incoming') }
}

/** Everything of it can be spent. */
export function free(balance: string): Holding {
  return { balance, available: balance, incoming: '0' }
}

export interface TokenFields {
  readonly symbol: string
  readonly issuer: string
  readonly total_supply: string
  readonly decimals?: number
}

export function registerToken(
  client: LedgerClient,
  token: TokenFields,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpReply> {
  return client.post('/v1/fungible-tokens', { decimals: 2, ...token }, headers)
}

/** Registers what must be taken. */
export async function issued(client: LedgerClient, symbol: string, issuer: Holder, supply: string): Promise<void> {
  const reply = await registerToken(client, { symbol, issuer: issuer.accountId, total_supply: supply })
  if (reply.status !== 201) throw new Error(`registration of ${symbol}: ${reply.status} ${reply.body}`)
}

/** As an administrator. */
export function changeStatus(admin: LedgerClient, { accountId }: Holder, change: Members): Promise<HttpReply> {
  return admin.post(`/v1/accounts/${accountId}/status`, { reason: 'a test', ...change })
}

/** Milliseconds from now as an RFC 3339 timestamp. */
export function inMs(timeMs: number): string {
  return new Date(Date.now() + timeMs).toISOString()
}

/** `status codes`, as `409 ERR_CONFLICT`: what a refusal is told by. */
export function outcomeOf(reply: HttpReply): string {
  const codes = reply.status < 400 ? [] : (membersOf(reply)['error_codes'] as readonly string[])
  return [reply.status, ...codes].join(' ')
}

/** The fields that a refusal names. */
export function fieldsOf(reply: HttpReply): readonly unknown[] {
  return ((membersOf(reply)['errors'] ?? []) as readonly Members[]).map(({ field }) => field)
}
