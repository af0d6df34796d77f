/** Two accounts that exchange their tokens. */
import { randomUUID } from 'node:crypto'
import type { Holder, LedgerClient } from '../support/client/client.ts'
import type { Members } from '../support/client/client-keys.ts'
import { issued } from '../support/client/client-moves.ts'

export interface Traders {
  /** Has 100 of `gold`. */
  readonly alice: Holder
  /** Has 100 of `silver`. */
  readonly bob: Holder
  readonly gold: string
  readonly silver: string
}

/** Creates two accounts, each with the whole supply of a new token. */
export async function tradersOf(client: LedgerClient, name: string): Promise<Traders> {
  const alice = await client.register(`alice-${name}@trade`)
  const bob = await client.register(`bob-${name}@trade`)
  const gold = `GOLD-${name}`
  const silver = `SILVER-${name}`
  for (const [symbol, issuer] of [
    [gold, alice],
    [silver, bob],
  ] as const) {
    await issued(client, symbol, issuer, '100')
  }
  return { alice, bob, gold, silver }
}

/** The offer of Alice, and the matching offer of Bob. */
export function offers({ alice, bob, gold, silver }: Traders): { readonly given: Members; readonly mirror: Members } {
  const group = { group_id: randomUUID() }
  const given = { token_id: gold, amount: '1.0' }
  const wanted = { token_id: silver, amount: '25' }
  return {
    given: { ...group, ...given, type: 'exchange', to_account_id: bob.accountId, receive: wanted },
    mirror: {
      ...group,
      ...wanted,
      type: 'exchange',
      to_account_id: alice.accountId,
      receive: { ...given, amount: '1' },
    },
  }
}
