/** After a kill of all nodes, pending groups, exchanges and transfers end as agreed and in time (I2, I8, I11). */
import { describe, expect, test } from 'vitest'
import { type HttpReply, textOf } from '../../support/client/client.ts'
import {
  agreed,
  agreementOn,
  compensationsOf,
  finalGroup,
  legFields,
  legStatuses,
  payment,
} from '../../support/client/client-groups.ts'
import type { Members } from '../../support/client/client-keys.ts'
import {
  accepted,
  ended,
  free,
  funded,
  holdingOf,
  inMs,
  keyed,
  moved,
  registerToken,
} from '../../support/client/client-moves.ts'
import { until } from '../../support/processes/cluster-process.ts'
import { checkOffline } from '../offline-check.ts'
import type { GetRunning } from '../running.ts'
import { offers, tradersOf } from '../traders.ts'

/** Shorter than what it takes until other nodes have all shards. */
const TIMEOUT_S = 3
const BACK_MS = 180_000

/** Ends the nodes of the shared ledger: nothing that counts on its processes may come after it. */
export function restartSuite(running: GetRunning): void {
  describe('kill -9 of every node', () => {
    test('I8, I11: an open group times out, an exchange expires, and other orders complete', async () => {
      const { client, elsewhere, cluster } = running()
      const [from, to] = [await funded(client, 'killed@restart', '100'), await client.register('killed-to@restart')]
      const traders = await tradersOf(client, 'restart')
      const lasting = await agreed(client, agreementOn(payment(from, to, '7'), 3600))
      await moved(client, from, legFields(lasting, 0))
      const timed = await agreed(client, agreementOn(payment(from, to, '6'), TIMEOUT_S))
      const debit = await moved(client, from, legFields(timed, 0))
      const lone = await accepted(client, traders.alice, {
        ...offers(traders).given,
        expires_at: inMs(TIMEOUT_S * 1000),
      })
      const orders = Array.from({ length: 10 }, () =>
        keyed({ type: 'transfer', amount: '2', to_account_id: to.accountId }),
      )
      const submitAll = (): Promise<readonly PromiseSettledResult<HttpReply>[]> =>
        Promise.allSettled(orders.map((order, number) => (number % 2 === 0 ? client : elsewhere).submit(from, order)))
      const tokens = Array.from({ length: 8 }, (_, number) => ({
        symbol: `RESTART-${number}`,
        issuer: `issuer-${number}@restart`,
        total_supply: `${number + 1}`,
      }))
      const registerAll = (): Promise<readonly PromiseSettledResult<HttpReply>[]> =>
        Promise.allSettled(tokens.map((token) => registerToken(client, token, { 'idempotency-key': token.symbol })))
      const registrations = registerAll()
      const nodes = cluster.heads('node').map(({ pid }) => pid)
      const submissions = submitAll()
      for (const pid of nodes) process.kill(pid, 'SIGKILL')
      await Promise.all([submissions, registrations])
      let receipts: readonly string[] = []
      await until('every transfer is acknowledged by other nodes', BACK_MS, async () => {
        const replies = (await submitAll()).flatMap((reply) => (reply.status === 'fulfilled' ? [reply.value] : []))
        receipts = replies.filter(({ status }) => status === 202).map(({ body }) => body)
        return receipts.length === orders.length
      })
      await until('every token is registered', BACK_MS, async () =>
        (await registerAll()).every((reply) => reply.status === 'fulfilled' && reply.value.status === 201),
      )
      for (const { symbol, issuer, total_supply: supply } of tokens) {
        expect(await holdingOf(elsewhere, issuer, symbol)).toEqual(free(supply))
      }
      expect(cluster.heads('node').filter(({ pid }) => nodes.includes(pid))).toEqual([])
      expect(new Set(receipts).size).toBe(orders.length)
      for (const receipt of receipts) {
        const transfer = JSON.parse(receipt) as Members
        expect(await ended(client, transfer)).toMatchObject({ status: 'completed' })
      }
      const reverted = await finalGroup(elsewhere, timed)
      expect(reverted).toMatchObject({ status: 'reverted', partial_failures: [] })
      expect(legStatuses(reverted)).toEqual(['compensated', 'expected'])
      expect([...compensationsOf(reverted).keys()]).toEqual([textOf(debit, 'txn_id')])
      expect(await ended(client, lone)).toMatchObject({ status: 'failed', failure: { code: 'exchange_expired' } })
      expect(await holdingOf(client, traders.alice.accountId, traders.gold)).toEqual(free('100'))
      await moved(client, to, legFields(lasting, 1))
      expect(await finalGroup(client, lasting)).toMatchObject({ status: 'settled' })
      expect(await holdingOf(client, from.accountId)).toEqual(free('73'))
      expect(await holdingOf(client, to.accountId)).toEqual(free('27'))
      const checked = await checkOffline(client, [from.accountId, to.accountId, traders.alice.accountId])
      expect(checked).toMatchObject({ code: 0 })
      expect(await client.read('/v1/transactions?status=pending')).toMatchObject({ total_count: 0 })
    })
  })
}
