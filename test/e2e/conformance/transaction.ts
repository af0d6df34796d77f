/** The fields of a transaction. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { type Holder, textOf } from '../../support/client.ts'
import { type Members, signed } from '../../support/client-keys.ts'
import { accepted, fieldsOf, issued, keyed, moved, outcomeOf } from '../../support/client-moves.ts'
import { told } from './cast.ts'
import { SHA_256, TIMESTAMP, TXN_ID, UUID } from './forms.ts'
import { sorted } from './sorted.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'
import { expectTimeOfRun } from './times.ts'

/** The ledger's time is PostgreSQL's, asked over a connection; a node that is off by more is not ready. */
const CLOCK_LAG_MS = 500
const TYPES = ['debit', 'credit', 'transfer', 'exchange', 'mint', 'burn']

export function transactionChapter(suite: Suite): void {
  const row = suite.chapter('Transaction')

  row('txn_id', 'string, unique, the same on receipt, detail, list and group', async (stage) => {
    const { transactor, cast } = stage
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => accepted(transactor, cast.carol, { type: 'debit', amount: '1' })),
    )
    expect(new Set(replies.map((receipt) => receipt['txn_id'])).size).toBe(20)
    for (const shown of await everywhere(stage)) expect(shown['txn_id']).toBe(cast.transferred.txnId)
    expect(cast.transferred.txnId).toMatch(TXN_ID)
  })

  row('account_id', 'string, the submitting account', async (stage) => {
    for (const shown of await everywhere(stage)) expect(shown['account_id']).toBe(stage.cast.alice.accountId)
  })

  row('amount', 'decimal string, as it was signed', async (stage) => {
    const { transactor, cast } = stage
    const { detail, txnId } = cast.credited
    expect(detail['amount']).toBe('100.50')
    const listed = await transactor.readAll(`/v1/transactions?account_id=${cast.alice.accountId}`, 'transactions')
    expect(listed.find((one) => one['txn_id'] === txnId)).toMatchObject({ amount: '100.50' })
  })

  row('type', 'one of six, and no other', async (stage) => {
    const { transactor } = stage
    const details = await oneOfEach(stage)
    expect(sorted(details.map(({ type }) => type))).toEqual(TYPES.toSorted())
    for (const type of ['', 'CREDIT', 'deposit', 7, null]) {
      const reply = await transactor.submit(stage.cast.alice, keyed({ type, amount: '1' }))
      expect([type, outcomeOf(reply)]).toEqual([type, '400 ERR_INVALID_TYPE'])
    }
  })

  row('token_id', 'optional; a registered token, or the base unit without it', async ({ transactor, cast }) => {
    expect([cast.transferred.detail['token_id'], cast.credited.detail['token_id']]).toEqual(['COIN', 'BASE'])
    const unknown = await transactor.submit(cast.alice, keyed({ type: 'credit', amount: '1', token_id: 'NO-SUCH' }))
    expect([outcomeOf(unknown), fieldsOf(unknown)]).toEqual(['404 ERR_NOT_FOUND', ['token_id']])
  })

  row('group_id', 'optional UUID that links legs; a transfer without a receiver needs it', async (stage) => {
    const { transactor, cast } = stage
    for (const shown of [cast.transferred.receipt, cast.transferred.detail]) expect(shown['group_id']).toMatch(UUID)
    const groupId = randomUUID()
    const legs = await Promise.all(
      [cast.alice, cast.bob].map((holder) =>
        told(transactor, holder, { type: 'credit', amount: '1', group_id: groupId }),
      ),
    )
    for (const { receipt, detail } of legs)
      expect([receipt['group_id'], detail['group_id']]).toEqual([groupId, groupId])
    const txnIds = legs.map(({ txnId }) => txnId)
    const linked = await transactor.readAll(`/v1/transactions/group/${groupId}`, 'transactions')
    expect(sorted(linked.map((leg) => leg['txn_id']))).toEqual(sorted(txnIds))
    expect(cast.credited.detail).not.toHaveProperty('group_id')
    const lonely = await transactor.submit(cast.alice, keyed({ type: 'transfer', amount: '1' }))
    expect([outcomeOf(lonely), fieldsOf(lonely)]).toEqual(['400 ERR_INVALID_GROUP_ID', ['group_id']])
  })

  row('status', 'pending, completed or failed', async ({ viewer, cast }) => {
    const statuses = [cast.pending, cast.credited, cast.failed].map(async ({ txnId }) => {
      return (await viewer.read(`/v1/transactions/${txnId}`))['status']
    })
    expect(await Promise.all(statuses)).toEqual(['pending', 'completed', 'failed'])
  })

  row('shard_id', 'integer, the shard of the account', async (stage) => {
    const { shard_id: shardId } = await stage.viewer.read(`/v1/accounts/${stage.cast.alice.accountId}`)
    expect([Number.isInteger(shardId), Number(shardId) >= 0, Number(shardId) < 256]).toEqual([true, true, true])
    const { receipt, detail } = stage.cast.transferred
    const listed = await listedTransfer(stage)
    expect([receipt, detail, listed].map((shown) => shown['shard_id'])).toEqual([shardId, shardId, shardId])
  })

  row('created_at', 'timestamp, on the detail and in lists', async (stage) => {
    const { receipt, detail } = stage.cast.transferred
    expectTimeOfRun(detail['created_at'])
    expect(detail['created_at']).toBe(receipt['enqueued_at'])
    expect((await listedTransfer(stage))['created_at']).toBe(detail['created_at'])
    expect(receipt).not.toHaveProperty('created_at')
  })

  row('enqueued_at', 'timestamp, on the receipt: the moment it was accepted', ({ cast }) => {
    const { receipt, detail, submittedMs, answeredMs } = cast.credited
    expect(receipt['enqueued_at']).toMatch(TIMESTAMP)
    const enqueuedMs = Date.parse(textOf(receipt, 'enqueued_at'))
    expect([enqueuedMs >= submittedMs - CLOCK_LAG_MS, enqueuedMs <= answeredMs]).toEqual([true, true])
    expect(detail).not.toHaveProperty('enqueued_at')
    expect(detail['created_at']).toBe(receipt['enqueued_at'])
  })

  row(
    'audit_hash',
    'sha256:<hex> on the detail, of its entry in the chain; null unless it completed',
    async (stage) => {
      const { viewer, cast } = stage
      const entries = await viewer.readAll(`/v1/accounts/${cast.alice.accountId}/audit-chain`, 'entries')
      const entry = entries.find((one) => one['txn_id'] === cast.credited.txnId)
      expect(cast.credited.detail['audit_hash']).toMatch(SHA_256)
      expect(cast.credited.detail['audit_hash']).toBe(entry?.['audit_hash'])
      expect([cast.failed.detail['audit_hash'], cast.pending.detail['audit_hash']]).toEqual([null, null])
      expect(await listedTransfer(stage)).not.toHaveProperty('audit_hash')
    },
  )

  row('signature', 'input only, required', async (stage) => {
    const { transactor, cast } = stage
    const { signature: _, ...unsigned } = signed(bodyOf(cast.alice), cast.alice.keys.privateKey)
    const reply = await transactor.post('/v1/transactions', unsigned)
    expect([outcomeOf(reply), fieldsOf(reply)]).toEqual(['400 ERR_INVALID_SIGNATURE', ['signature']])
    for (const shown of await everywhere(stage)) expect(shown).not.toHaveProperty('signature')
  })

  row('idempotency_key', 'input only, chosen by the client, required', async (stage) => {
    const { transactor, cast } = stage
    const { idempotency_key: _, ...keyless } = bodyOf(cast.alice)
    const reply = await transactor.post('/v1/transactions', signed(keyless, cast.alice.keys.privateKey))
    expect([outcomeOf(reply), fieldsOf(reply)]).toEqual(['400 ERR_INVALID_IDEMPOTENCY_KEY', ['idempotency_key']])
    for (const shown of await everywhere(stage)) expect(shown).not.toHaveProperty('idempotency_key')
  })
}

function bodyOf({ accountId }: Holder): Members {
  return keyed({ account_id: accountId, type: 'credit', amount: '1' })
}

async function listedTransfer({ viewer, cast }: Stage): Promise<Members> {
  const listed = await viewer.readAll(`/v1/transactions?account_id=${cast.alice.accountId}`, 'transactions')
  return listed.find((one) => one['txn_id'] === cast.transferred.txnId) ?? {}
}

/** The transfer wherever it is shown: receipt, detail, list, group. */
async function everywhere(stage: Stage): Promise<readonly Members[]> {
  const { viewer, cast } = stage
  const { receipt, txnId, detail } = cast.transferred
  const grouped = await viewer.readAll(`/v1/transactions/group/${textOf(detail, 'group_id')}`, 'transactions')
  const leg = grouped.find((one) => one['account_id'] === cast.alice.accountId) ?? {}
  return [receipt, await viewer.read(`/v1/transactions/${txnId}`), await listedTransfer(stage), leg]
}

/** A completed transaction of each type; the exchange is one with the outside. */
async function oneOfEach({ transactor, cast }: Stage): Promise<readonly Members[]> {
  await issued(transactor, 'TYPED', cast.alice, '3')
  const typed = { amount: '1', token_id: 'TYPED' }
  const details = [cast.transferred.detail]
  for (const fields of [
    { type: 'credit', amount: '2' },
    { type: 'debit', amount: '2' },
    { type: 'exchange', ...typed, group_id: randomUUID() },
    { type: 'mint', ...typed },
    { type: 'burn', ...typed },
  ]) {
    details.push(await moved(transactor, cast.alice, fields))
  }
  return details
}
