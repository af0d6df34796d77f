/** What the service does: each statement of the introduction, seen from outside. */
import { expect } from 'vitest'
import { membersOf, textOf } from '../../support/client.ts'
import { canonical, type Members } from '../../support/client-keys.ts'
import { outcomeOf, WAITING } from '../../support/client-moves.ts'
import { chained } from './chained.ts'
import { NO_HASH } from './forms.ts'
import { isSignedBy } from './signatures.ts'
import type { Suite } from './suite.ts'
import { expectTimeOfRun } from './times.ts'

export function serviceChapter(suite: Suite): void {
  const row = suite.chapter('Service')

  row('fungible tokens and NFTs', 'an account holds both', async ({ viewer, cast }) => {
    const { accountId } = cast.bob
    const balances = await viewer.readAll(`/v1/accounts/${accountId}/balances`, 'balances')
    expect(balances.map(({ token_id: tokenId, balance }) => [tokenId, balance])).toContainEqual(['COIN', '25'])
    const nfts = await viewer.readAll(`/v1/accounts/${accountId}/nfts`, 'nfts')
    expect(nfts.map(({ instance_id: instanceId }) => instanceId)).toEqual([cast.deed.instance_id])
  })

  row(
    'six types, accepted asynchronously, immutable once completed',
    'a 202 is pending; the end does not change',
    async (stage) => {
      const { viewer, cast } = stage
      expect([cast.credited.reply.status, cast.credited.receipt['status']]).toEqual([202, 'pending'])
      const path = `/v1/transactions/${cast.credited.txnId}`
      expect(await viewer.read(path)).toEqual(cast.credited.detail)
      for (const method of ['PUT', 'PATCH', 'DELETE', 'POST']) {
        const headers = { ...stage.admin.authorization(), 'content-type': 'application/json' }
        const reply = await stage.ask({ method, path, headers, body: '{"status":"failed"}' })
        expect([method, outcomeOf(reply)]).toEqual([method, '405 ERR_METHOD_NOT_ALLOWED'])
      }
    },
  )

  row(
    'audit chain and receipts',
    'each hash covers the one before and the data; each transaction has a signed receipt',
    async (stage) => {
      const { viewer, cast } = stage
      const entries = await viewer.readAll(`/v1/accounts/${cast.alice.accountId}/audit-chain`, 'entries')
      expect(entries.length).toBeGreaterThan(3)
      let previous = NO_HASH
      for (const entry of entries) {
        expect(entry['previous_hash']).toBe(previous)
        previous = chained(previous, textOf(entry, 'payload'))
        expect(entry['audit_hash']).toBe(previous)
      }
      for (const { txnId, detail } of [cast.credited, cast.failed]) {
        const { receipt, signature } = await viewer.read(`/v1/transactions/${txnId}/receipt`)
        const told = receipt as Members
        expect(told).toMatchObject({ txn_id: txnId, status: detail['status'], audit_hash: detail['audit_hash'] })
        const key = await stage.publishedKey('receipt', textOf(told, 'key_id'))
        expect(isSignedBy(key, canonical(told), String(signature))).toBe(true)
        expect(isSignedBy(key, canonical({ ...told, amount: '9' }), String(signature))).toBe(false)
      }
    },
  )

  row('accounts are read-only', 'what an account holds is read, and changed by transactions alone', async (stage) => {
    const base = `/v1/accounts/${stage.cast.alice.accountId}`
    for (const path of [`${base}/state`, `${base}/balances`, `${base}/balances/COIN`, `${base}/nfts`]) {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
        const headers = { ...stage.admin.authorization(), 'content-type': 'application/json' }
        const reply = await stage.ask({ method, path, headers, body: '{}' })
        expect([method, path, outcomeOf(reply), reply.headers.allow]).toEqual([
          method,
          path,
          '405 ERR_METHOD_NOT_ALLOWED',
          'GET, HEAD, OPTIONS',
        ])
      }
    }
  })

  row(
    'legs share a group',
    'both sides of a transfer are transactions of one group, on their own accounts',
    async ({ viewer, cast }) => {
      const groupId = textOf(cast.transferred.detail, 'group_id')
      const { transactions } = await viewer.read(`/v1/transactions/group/${groupId}`, WAITING)
      const sides = (transactions as readonly Members[]).map(({ account_id: accountId, type, amount }) => [
        accountId,
        type,
        amount,
      ])
      expect(sides.toSorted(([one = ''], [other = '']) => String(one).localeCompare(String(other)))).toEqual([
        [cast.alice.accountId, 'transfer', '25'],
        [cast.bob.accountId, 'credit', '25'],
      ])
    },
  )

  row(
    'assertions and attestations',
    'the first are signed and verified, the second are kept',
    async ({ viewer, cast }) => {
      const asserted = await viewer.post('/v1/assertions/proof-of-provenance', { requester: 'introduction' })
      const { requester: _, ...assertion } = membersOf(asserted)
      expect(membersOf(await viewer.post('/v1/assertions/verify', assertion))['valid']).toBe(true)
      const attestation = membersOf(cast.attestation)
      expect(await viewer.read(`/v1/attestations/${textOf(attestation, 'attestation_id')}`)).toEqual(attestation)
    },
  )

  row('quantities are strings', 'no amount, balance or supply is a JSON number', async ({ viewer, cast }) => {
    const [balance, coin, detail] = [
      await viewer.read(`/v1/accounts/${cast.alice.accountId}/balances/COIN`),
      membersOf(cast.coin),
      cast.credited.detail,
    ]
    expect([balance['balance'], balance['available'], balance['incoming']]).toEqual(['975.5', '974.5', '0'])
    expect([coin['total_supply'], detail['amount']]).toEqual(['1000.5', '100.50'])
  })

  row('timestamps', 'ISO 8601 in UTC with milliseconds', ({ cast }) => {
    const times = [
      cast.credited.receipt['enqueued_at'],
      cast.credited.detail['created_at'],
      cast.credited.detail['processed_at'],
      membersOf(cast.coin)['created_at'],
      membersOf(cast.minted)['minted_at'],
      membersOf(cast.attestation)['created_at'],
    ]
    for (const time of times) {
      expectTimeOfRun(time)
      expect(new Date(String(time)).toISOString()).toBe(time)
    }
  })
}
