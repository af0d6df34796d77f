/** Goal: a transfer is one thing to its client: both sides or neither, once, wherever the two accounts live (D5). */
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { describe, expect, test } from 'vitest'
import { type Holder, type LedgerClient, membersOf, textOf } from '../support/client.ts'
import { type Members, signed } from '../support/client-keys.ts'
import {
  accepted,
  changeStatus,
  ended,
  fieldsOf,
  free,
  funded,
  holdingOf,
  inMs,
  issued,
  keyed,
  moved,
  outcomeOf,
  submitted,
  WAITING,
} from '../support/client-moves.ts'
import { checkOffline } from './offline-check.ts'
import type { GetScene, Scene } from './scene.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const REGISTERED_AT_ONCE = 32

export function transfersSuite(scene: GetScene): void {
  describe('transfers', () => {
    completions(scene)
    failures(scene)
    refusals(scene)
    repeats(scene)
  })
}

interface Pair {
  readonly from: Holder
  readonly to: Holder
}

/** Two new accounts of which `fits` says yes: accounts are made until there are such two. */
async function pairOf(
  client: LedgerClient,
  name: string,
  fits: (oneShard: number, otherShard: number) => boolean,
): Promise<Pair> {
  const made: { readonly holder: Holder; readonly shardId: number }[] = []
  for (;;) {
    const fresh = Array.from({ length: REGISTERED_AT_ONCE }, async (_, number) => {
      const holder = await client.register(`${name}-${made.length + number}@transfers`)
      const { shard_id: shardId } = await client.read(`/v1/accounts/${holder.accountId}`)
      return { holder, shardId: Number(shardId) }
    })
    made.push(...(await Promise.all(fresh)))
    for (const one of made) {
      const other = made.find(({ holder, shardId }) => holder !== one.holder && fits(one.shardId, shardId))
      if (other !== undefined) return { from: one.holder, to: other.holder }
    }
  }
}

/** Which node has which shard, as PostgreSQL has it. */
async function ownersOf({ cluster }: Scene): Promise<ReadonlyMap<number, string>> {
  const sql = postgres(cluster.databaseUrl(), { max: 1, onnotice: () => undefined })
  try {
    const rows = await sql<{ shard_id: number; session: string }[]>`SELECT shard_id, session FROM shards`
    return new Map(rows.map((row) => [row.shard_id, row.session]))
  } finally {
    await sql.end()
  }
}

function completions(scene: GetScene): void {
  const places = [
    { where: 'an account of the other node', name: 'far' },
    { where: 'an account of the same shard', name: 'near' },
  ] as const

  test.for(places)(
    'D5: a transfer to $where completes on both sides: balances, links, metadata, chains and receipts',
    async ({ name }) => {
      const { client, elsewhere } = scene()
      const owners = await ownersOf(scene())
      expect(new Set(owners.values()).size).toBe(2)
      const { from, to } = await pairOf(client, name, (one, other) =>
        name === 'near' ? one === other : owners.get(one) !== owners.get(other),
      )
      await moved(client, from, { type: 'credit', amount: '100' })
      const metadata = { invoice: '2041', note: 'für Ärzte “e”' }
      const order = { type: 'transfer', amount: '30.5', to_account_id: to.accountId, metadata }
      const receipt = await accepted(client, from, order)
      expect(receipt).toMatchObject({ status: 'pending', group_id: expect.stringMatching(UUID) })
      const txnId = textOf(receipt, 'txn_id')
      const groupId = textOf(receipt, 'group_id')
      const reply = await elsewhere.get(`/v1/transactions/${txnId}`, WAITING)
      expect(reply.headers['preference-applied']).toBe('wait=30')
      const transfer = membersOf(reply)
      expect(transfer).toMatchObject({
        ...order,
        account_id: from.accountId,
        status: 'completed',
        token_id: 'BASE',
        group_id: groupId,
        origin: 'client',
        audit_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      })
      const group = await client.read(`/v1/transactions/group/${groupId}`)
      const legs = group['transactions'] as readonly Members[]
      expect(legs).toHaveLength(2)
      const credit = legs.find(({ txn_id: id }) => id !== txnId) ?? {}
      expect(await client.read(`/v1/transactions/${textOf(credit, 'txn_id')}`)).toMatchObject({
        account_id: to.accountId,
        type: 'credit',
        amount: '30.5',
        status: 'completed',
        from_account_id: from.accountId,
        group_id: groupId,
        origin: 'ledger',
        metadata,
      })
      expect(await holdingOf(client, from.accountId)).toEqual(free('69.5'))
      expect(await holdingOf(client, to.accountId)).toEqual(free('30.5'))
      const checked = await checkOffline(client, [from.accountId, to.accountId])
      expect(checked).toMatchObject({ code: 0 })
      expect(checked.out).not.toContain('TAMPERED')
      expect(checked.txnIds).toHaveLength(3)
      for (const known of checked.txnIds) expect(checked.out).toContain(`ok: receipt of ${known}`)
    },
  )

  test('D5: a transfer under a group ID of the client’s keeps it, in lower case, on both sides', async () => {
    const { client } = scene()
    const from = await funded(client, 'grouped@transfers', '5')
    const to = await client.register('grouped-to@transfers')
    const groupId = randomUUID()
    const order = { type: 'transfer', amount: '5', to_account_id: to.accountId, group_id: groupId.toUpperCase() }
    const receipt = await accepted(client, from, order)
    expect(receipt).toMatchObject({ group_id: groupId })
    expect(await ended(client, receipt)).toMatchObject({ status: 'completed', group_id: groupId })
    const { transactions } = await client.read(`/v1/transactions/group/${groupId.toUpperCase()}`)
    expect(transactions).toHaveLength(2)
  })

  test('I4, I5: transfers that cross each other, more than there is, move what there is and lose nothing', async () => {
    const { client, elsewhere } = scene()
    const left = await funded(client, 'left@transfers', '50')
    const right = await funded(client, 'right@transfers', '50')
    const receipts = await Promise.all(
      Array.from({ length: 60 }, (_, number) => {
        const [from, to] = number % 2 === 0 ? [left, right] : [right, left]
        const order = { type: 'transfer', amount: '20', to_account_id: to.accountId }
        return accepted(number % 3 === 0 ? client : elsewhere, from, order)
      }),
    )
    const details = await Promise.all(receipts.map((receipt) => ended(client, receipt)))
    const net = details
      .filter(({ status }) => status === 'completed')
      .reduce((sum, { account_id: accountId }) => sum + (accountId === left.accountId ? 20 : -20), 0)
    const failures = details.filter(({ status }) => status === 'failed').map(({ failure }) => failure)
    expect(failures).toEqual(failures.map(() => expect.objectContaining({ code: 'insufficient_funds' })))
    expect(await holdingOf(client, left.accountId)).toEqual(free(`${50 - net}`))
    expect(await holdingOf(client, right.accountId)).toEqual(free(`${50 + net}`))
  })

  test('D5: a transfer with a group ID alone leaves the ledger', async () => {
    const { client } = scene()
    const holder = await funded(client, 'leaving@transfers', '5')
    const groupId = randomUUID()
    await moved(client, holder, { type: 'transfer', amount: '2', group_id: groupId })
    expect(await holdingOf(client, holder.accountId)).toEqual(free('3'))
    const { transactions } = await client.read(`/v1/transactions/group/${groupId}`)
    expect(transactions).toHaveLength(1)
  })
}

function failures(scene: GetScene): void {
  test('D5: what the receiver does not take fails with its reason, the reservation is gone, the receiver as it was', async () => {
    const { client, admin } = scene()
    const from = await funded(client, 'failing@transfers', '10')
    const cases = [
      { name: 'refusing', change: { incoming: 'refuse' }, code: 'incoming_refused' },
      { name: 'closed', change: { status: 'closed' }, code: 'account_closed' },
    ] as const
    for (const { name, change, code } of cases) {
      const to = await client.register(`${name}@transfers`)
      expect((await changeStatus(admin, to, change)).status).toBe(200)
      const before = await client.read(`/v1/accounts/${to.accountId}/state`)
      const order = { type: 'transfer', amount: '4', to_account_id: to.accountId }
      const detail = await submitted(client, from, order)
      expect(detail).toMatchObject({ status: 'failed', failure: { code }, audit_hash: null })
      expect(await holdingOf(client, from.accountId)).toEqual(free('10'))
      expect(await client.read(`/v1/accounts/${to.accountId}/state`)).toEqual(before)
      const { transactions } = await client.read(`/v1/transactions/group/${textOf(detail, 'group_id')}`)
      expect(transactions).toHaveLength(1)
      const { receipt } = await client.read(`/v1/transactions/${textOf(detail, 'txn_id')}/receipt`)
      expect(receipt).toMatchObject({ status: 'failed', sequence: null, previous_hash: null, audit_hash: null })
    }
  })

  test('D5: a receiver without room fails the transfer: balance_limit', async () => {
    const { client } = scene()
    const from = await funded(client, 'overflowing@transfers', '1')
    const to = await funded(client, 'full@transfers', '9'.repeat(18))
    const detail = await submitted(client, from, { type: 'transfer', amount: '1', to_account_id: to.accountId })
    expect(detail).toMatchObject({ status: 'failed', failure: { code: 'balance_limit' } })
    expect(await holdingOf(client, from.accountId)).toEqual(free('1'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('9'.repeat(18)))
  })

  test('D5: what the sender has not, or may not send, fails; a frozen account still receives', async () => {
    const { client, admin } = scene()
    const from = await funded(client, 'poor@transfers', '10')
    const to = await funded(client, 'poor-to@transfers', '1')
    const order = { type: 'transfer', amount: '10.000000000000000001', to_account_id: to.accountId }
    const short = await submitted(client, from, order)
    expect(short).toMatchObject({ status: 'failed', failure: { code: 'insufficient_funds' } })
    expect((await changeStatus(admin, to, { status: 'frozen' })).status).toBe(200)
    await moved(client, from, { ...order, amount: '3' })
    const back = await submitted(client, to, { type: 'transfer', amount: '1', to_account_id: from.accountId })
    expect(back).toMatchObject({ status: 'failed', failure: { code: 'account_frozen' } })
    expect(await holdingOf(client, from.accountId)).toEqual(free('7'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('4'))
  })
}

function refusals(scene: GetScene): void {
  test('D5: a receiver that does not exist, a time that is past, a token that does not exist: refused, and nothing is kept', async () => {
    const { client } = scene()
    const from = await funded(client, 'refused@transfers', '10')
    const to = await client.register('refused-to@transfers')
    const order = { type: 'transfer', amount: '1', to_account_id: to.accountId }
    const cases = [
      { change: { to_account_id: 'nobody@transfers' }, outcome: '404 ERR_NOT_FOUND', field: 'to_account_id' },
      { change: { expires_at: inMs(-1000) }, outcome: '400 ERR_INVALID_TIMESTAMP', field: 'expires_at' },
      { change: { token_id: 'NO-SUCH' }, outcome: '404 ERR_NOT_FOUND', field: 'token_id' },
      { change: { to_account_id: from.accountId }, outcome: '400 ERR_SELF_TRANSFER', field: 'to_account_id' },
    ]
    for (const { change, outcome, field } of cases) {
      const fields = keyed({ ...order, ...change })
      const reply = await client.submit(from, fields)
      expect([outcomeOf(reply), fieldsOf(reply)]).toEqual([outcome, [field]])
      // The key is free: the same one serves the order as it should have been.
      const { idempotency_key: key = '' } = fields
      const right = await client.submit(from, { ...order, idempotency_key: key })
      expect([right.status, right.headers['idempotency-replayed']]).toEqual([202, undefined])
      await ended(client, membersOf(right))
    }
    expect(await holdingOf(client, from.accountId)).toEqual(free('6'))
  })

  test('D5: a transfer and a credit of one account and asset under one group ID: the second is 400, whichever it is', async () => {
    const { client } = scene()
    const holder = await funded(client, 'circular@transfers', '10')
    const to = await client.register('circular-to@transfers')
    await issued(client, 'CIRCULAR', holder, '5')
    const credit = { type: 'credit', amount: '1' }
    const transfers = [
      { type: 'transfer', amount: '1' },
      { type: 'transfer', amount: '1', to_account_id: to.accountId },
    ]
    for (const transfer of transfers) {
      for (const [first, second] of [
        [credit, transfer],
        [transfer, credit],
      ] as const) {
        const group = { group_id: randomUUID() }
        await moved(client, holder, { ...first, ...group })
        const refused = await client.submit(holder, keyed({ ...second, ...group }))
        expect(outcomeOf(refused)).toBe('400 ERR_SELF_TRANSFER')
        // Of another asset it is another thing.
        await moved(client, holder, { ...second, ...group, token_id: 'CIRCULAR' })
      }
    }
    // Each round: BASE moved in once and out once, and so did CIRCULAR.
    expect(await holdingOf(client, holder.accountId)).toEqual(free('10'))
    expect(await holdingOf(client, holder.accountId, 'CIRCULAR')).toEqual(free('5'))
  })
}

function repeats(scene: GetScene): void {
  test('D7: a transfer repeated while pending and after its end gets the same 202, and moves once', async () => {
    const { client, elsewhere } = scene()
    const from = await funded(client, 'repeated@transfers', '10')
    const to = await client.register('repeated-to@transfers')
    const fields = keyed({ account_id: from.accountId, type: 'transfer', amount: '6', to_account_id: to.accountId })
    const submit = (edge: LedgerClient) => edge.post('/v1/transactions', signed(fields, from.keys.privateKey))
    const first = await Promise.all([submit(client), submit(elsewhere), submit(client), submit(elsewhere)])
    const detail = await ended(client, membersOf(first[0]))
    expect(detail['status']).toBe('completed')
    const replies = [...first, await submit(client), await submit(elsewhere)]
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 202))
    expect(new Set(replies.map(({ body }) => body)).size).toBe(1)
    expect(replies.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(5)
    expect(membersOf(replies[5] ?? first[0])).toMatchObject({ status: 'pending', group_id: detail['group_id'] })
    expect(await holdingOf(client, from.accountId)).toEqual(free('4'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('6'))
  })

  test('D7: a transfer that failed has used its key up: the repeat moves nothing though the receiver takes it now', async () => {
    const { client, admin } = scene()
    const from = await funded(client, 'too-late@transfers', '10')
    const to = await client.register('too-late-to@transfers')
    await changeStatus(admin, to, { incoming: 'refuse' })
    const fields = keyed({ type: 'transfer', amount: '6', to_account_id: to.accountId })
    const first = await client.submit(from, fields)
    expect(await ended(client, membersOf(first))).toMatchObject({ failure: { code: 'incoming_refused' } })
    await changeStatus(admin, to, { incoming: 'accept' })
    const again = await client.submit(from, fields)
    expect([again.status, again.body, again.headers['idempotency-replayed']]).toEqual([202, first.body, 'true'])
    await moved(client, from, { type: 'transfer', amount: '1', to_account_id: to.accountId })
    expect(await holdingOf(client, from.accountId)).toEqual(free('9'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('1'))
  })
}
