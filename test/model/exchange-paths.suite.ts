/** Exchanges end over HTTP as the model predicts, on covering paths. Expiry is tested on virtual time only. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Holder, type LedgerClient, membersOf, textOf } from '../support/client/client.ts'
import { holdingOf, issued, newKey } from '../support/client/client-moves.ts'
import { type Members, signed } from '../support/client/client-keys.ts'
import {
  type Action,
  exchangeFields,
  exchangePaths,
  FUNDS,
  issuedBy,
  PARTIES,
  type Seen,
  TOKENS,
} from './exchange-model.ts'
import { type Stage, walk } from './group-driver.ts'
import { coveringPaths } from './group-paths.ts'
import { nameOf } from './group-scene.ts'

const MOMENT_MS = 10
const PATIENCE_MS = 60_000

async function httpStage(client: LedgerClient): Promise<Stage<Action, Seen>> {
  const groupId = randomUUID()
  const idOf = (name: string): string => `${groupId}.${name}`
  const enter = async (name: 'ann' | 'bob'): Promise<Holder> => {
    const holder = await client.register(idOf(name))
    await issued(client, idOf(issuedBy(name)), holder, `${FUNDS}`)
    return holder
  }
  const [ann, bob] = await Promise.all([enter('ann'), enter('bob')])
  const parties = { ann, bob }
  let patientUntilMs = 0
  return {
    act: async (action) => {
      if (action.type === 'expire') throw new Error('This stage cannot expire offers.')
      const { by, fields } = exchangeFields(action.offer, idOf)
      const { accountId, keys } = parties[by]
      const body = { ...fields, account_id: accountId, group_id: groupId, idempotency_key: newKey() }
      const { status } = await client.post('/v1/transactions', signed(body, keys.privateKey))
      patientUntilMs = performance.now() + PATIENCE_MS
      return status === 202 ? 'accepted' : 'refused'
    },
    seen: async () => {
      const found = membersOf(await client.get(`/v1/transactions/group/${groupId}`))
      const transactions = (found['transactions'] ?? []) as readonly Members[]
      const holdings = PARTIES.flatMap((party) =>
        TOKENS.map(async (token) => {
          const { balance, available } = await holdingOf(client, idOf(party), idOf(token))
          return `${party} ${token} ${balance} ${available}`
        }),
      )
      return {
        transactions: transactions
          .map((one) => {
            const [party, token] = ['account_id', 'token_id'].map((member) => nameOf(textOf(one, member)))
            return [party, token, textOf(one, 'amount'), textOf(one, 'status')].join(' ')
          })
          .sort(),
        balances: await Promise.all(holdings),
      }
    },
    goOn: async () => {
      await new Promise((resolve) => setTimeout(resolve, MOMENT_MS))
      return performance.now() < patientUntilMs
    },
  }
}

export function exchangePathsSuite(getClient: () => LedgerClient): void {
  test('exchange paths: every covering path ends as the model says', async () => {
    const paths = exchangePaths().filter(({ steps }) => steps.every(({ action }) => action.type === 'offer'))
    const walked = coveringPaths(paths).map(async ({ steps }) => walk(steps, await httpStage(getClient())))
    expect((await Promise.all(walked)).length).toBeGreaterThan(5)
  })
}
