/** The fields of a fungible token. */
import { expect } from 'vitest'
import { type LedgerClient, membersOf, textOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { moved, outcomeOf, registerToken } from '../../support/client-moves.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'
import { expectTimeOfRun } from './times.ts'

export function fungibleTokenChapter(suite: Suite): void {
  const row = suite.chapter('Fungible token')

  row('token_id', 'string, the symbol', async (stage) => {
    for (const shown of await everywhere(stage)) expect(shown['token_id']).toBe('COIN')
  })

  row('symbol', 'string, unique, without regard to case', async (stage) => {
    const { transactor, cast } = stage
    for (const shown of await everywhere(stage)) expect(shown['symbol']).toBe('COIN')
    for (const symbol of ['COIN', 'coin', 'Coin']) {
      const reply = await registerToken(transactor, { symbol, issuer: cast.alice.accountId, total_supply: '1' })
      expect([symbol, outcomeOf(reply)]).toEqual([symbol, '409 ERR_CONFLICT'])
    }
  })

  row('decimals', 'integer, 0 to 18', async (stage) => {
    for (const shown of await everywhere(stage)) expect(shown['decimals']).toBe(2)
  })

  row('issuer', 'string, an account ID', async (stage) => {
    for (const shown of await everywhere(stage)) expect(shown['issuer']).toBe(stage.cast.alice.accountId)
  })

  row('total_supply', 'decimal string, zero or above; mints and burns change it', async ({ transactor, cast }) => {
    const { alice } = cast
    const none = await registerToken(transactor, { symbol: 'SUPPLY', issuer: alice.accountId, total_supply: '0' })
    expect([none.status, membersOf(none)['total_supply']]).toEqual([201, '0'])
    await moved(transactor, alice, { type: 'mint', amount: '7.50', token_id: 'SUPPLY' })
    expect(await supplyOf(transactor)).toBe('7.5')
    await moved(transactor, alice, { type: 'burn', amount: '2.25', token_id: 'SUPPLY' })
    expect(await supplyOf(transactor)).toBe('5.25')
    expect(membersOf(cast.coin)['total_supply']).toBe('1000.5')
  })

  row('created_at', 'timestamp', async (stage) => {
    const created = textOf(membersOf(stage.cast.coin), 'created_at')
    expectTimeOfRun(created)
    for (const shown of await everywhere(stage)) expect(shown['created_at']).toBe(created)
  })
}

async function supplyOf(client: LedgerClient): Promise<unknown> {
  return (await client.read('/v1/fungible-tokens/SUPPLY'))['total_supply']
}

/** COIN as it was registered, as it is read, and in the list. */
async function everywhere({ viewer, cast }: Stage): Promise<readonly Members[]> {
  const tokens = await viewer.readAll('/v1/fungible-tokens', 'tokens')
  const listed = tokens.find((token) => token['token_id'] === 'COIN') ?? {}
  return [membersOf(cast.coin), await viewer.read('/v1/fungible-tokens/COIN'), listed]
}
