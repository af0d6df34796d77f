/** On every path exchanges end as the model predicts, by the actors' steps alone. */
import { expect, test } from 'vitest'
import { EXCHANGE_TIMEOUT_MS } from '../../actors/account/pending.ts'
import { type Action, exchangePaths, FUNDS, otherThan, PARTIES, type Seen, termsOf, TOKENS } from './exchange-model.ts'
import { type Stage, walk } from './group-driver.ts'
import { GROUP, World } from './mini-clients.ts'

function pureStage(): Stage<Action, Seen> {
  const ledger = new World()
  ledger.open(...PARTIES)
  ledger.issue({ tokenId: 'EUR', issuer: 'ann', totalSupply: `${FUNDS}` })
  ledger.issue({ tokenId: 'USD', issuer: 'bob', totalSupply: `${FUNDS}` })
  const act = (action: Action) => {
    if (action.type === 'expire') {
      ledger.pass(EXCHANGE_TIMEOUT_MS)
      ledger.drain()
      return 'accepted'
    }
    const { by, gives, receives } = termsOf(action.offer)
    const receive = { tokenId: receives.token, amount: `${receives.amount}` }
    const given = { tokenId: gives.token, amount: `${gives.amount}` }
    const to = { toAccountId: otherThan(by), groupId: GROUP }
    const { kind } = ledger.submission({ accountId: by, type: 'exchange', ...given, receive, ...to })
    ledger.drain()
    return kind === 'refused' ? 'refused' : 'accepted'
  }
  const seen = (): Seen => ({
    transactions: [...ledger.transactions.values()]
      .filter(({ type }) => type === 'exchange')
      .map(({ accountId, tokenId, amount, status }) => `${accountId} ${tokenId} ${amount} ${status}`)
      .sort(),
    balances: PARTIES.flatMap((party) =>
      TOKENS.map((token) => {
        const held = ledger.balance(party, token)
        return `${party} ${token} ${held.balance} ${held.available}`
      }),
    ),
  })
  return { act, seen }
}

test('every path ends as the model says', () => {
  const paths = exchangePaths()
  expect(paths.length).toBeGreaterThan(100)
  for (const steps of paths) walk(steps, pureStage())
})
