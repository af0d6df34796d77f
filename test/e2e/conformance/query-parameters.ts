/** The parameters of the query over all transactions: each alone, from both sides. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { type Holder, textOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { fieldsOf, moved, outcomeOf, submitted } from '../../support/client-moves.ts'
import { mintedTo } from '../../support/client-nfts.ts'
import { crowdOf } from './crowd.ts'
import { once } from './once.ts'
import { sorted } from './sorted.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

const PATH = '/v1/transactions'

export function queryChapter(suite: Suite): void {
  const row = suite.chapter('Transaction query')

  row('account_id', 'of this account; ill-formed is 400, unknown finds nothing', async (stage) => {
    const { holder, all } = await history(stage)
    const found = await idsOf(stage, `account_id=${holder.accountId}`)
    expect(found.toSorted()).toEqual(all.map(idOf).toSorted())
    expect(await idsOf(stage, 'account_id=nobody@nowhere')).toEqual([])
    await expectInvalid(stage, 'account_id', ['', 'a b', 'x'.repeat(129)], 'ERR_INVALID_ACCOUNT_ID')
  })

  row('date_from', 'inclusive, RFC 3339', async (stage) => {
    const { scope, third } = await history(stage)
    const createdMs = Date.parse(textOf(third, 'created_at'))
    expect(await idsOf(stage, `${scope}&date_from=${at(createdMs)}`)).toContain(idOf(third))
    expect(await idsOf(stage, `${scope}&date_from=${at(createdMs + 1)}`)).not.toContain(idOf(third))
    await expectInvalid(stage, 'date_from', BAD_DATES, 'ERR_INVALID_TIMESTAMP')
  })

  row('date_to', 'exclusive, RFC 3339', async (stage) => {
    const { scope, third } = await history(stage)
    const createdMs = Date.parse(textOf(third, 'created_at'))
    expect(await idsOf(stage, `${scope}&date_to=${at(createdMs)}`)).not.toContain(idOf(third))
    expect(await idsOf(stage, `${scope}&date_to=${at(createdMs + 1)}`)).toContain(idOf(third))
    const later = encodeURIComponent(new Date(createdMs + 1 + 7_200_000).toISOString().replace('Z', '+02:00'))
    expect(await idsOf(stage, `${scope}&date_to=${later}`)).toContain(idOf(third))
    expect(await idsOf(stage, `${scope}&date_from=${at(createdMs)}&date_to=${at(createdMs)}`)).toEqual([])
    await expectInvalid(stage, 'date_to', BAD_DATES, 'ERR_INVALID_TIMESTAMP')
  })

  row('type', 'one of six', async (stage) => {
    const { scope, all } = await history(stage)
    for (const type of ['credit', 'debit', 'transfer', 'exchange', 'mint', 'burn']) {
      const expected = all.filter((one) => one['type'] === type).map(idOf)
      expect([type, (await idsOf(stage, `${scope}&type=${type}`)).toSorted()]).toEqual([type, expected.toSorted()])
    }
    await expectInvalid(stage, 'type', ['', 'CREDIT', 'deposit'], 'ERR_INVALID_TYPE')
  })

  row('token_id', 'of this token', async (stage) => {
    const { scope, all } = await history(stage)
    for (const tokenId of ['COIN', 'BASE', 'NO-SUCH']) {
      const expected = all.filter((one) => one['token_id'] === tokenId).map(idOf)
      const found = await idsOf(stage, `${scope}&token_id=${tokenId}`)
      expect([tokenId, found.toSorted()]).toEqual([tokenId, expected.toSorted()])
    }
    await expectInvalid(stage, 'token_id', ['', 'a b', '-x'], 'ERR_INVALID_TOKEN_ID')
  })

  row('token_class', 'fungible or nft; another finds nothing', async (stage) => {
    const { scope, all } = await history(stage)
    const [nfts, tokens] = [
      all.filter((one) => one['class_id'] !== undefined),
      all.filter((one) => one['token_id'] !== undefined),
    ]
    expect([nfts.length, tokens.length + 1]).toEqual([1, all.length])
    expect(await idsOf(stage, `${scope}&token_class=nft`)).toEqual(nfts.map(idOf))
    expect((await idsOf(stage, `${scope}&token_class=fungible`)).toSorted()).toEqual(tokens.map(idOf).toSorted())
    expect(await idsOf(stage, `${scope}&token_class=gold`)).toEqual([])
  })

  row('group_id', 'under this group, in either case', async (stage) => {
    const { third, groupId } = await history(stage)
    for (const given of [groupId, groupId.toUpperCase()]) {
      expect(await idsOf(stage, `group_id=${given}`)).toEqual([idOf(third)])
    }
    expect(await idsOf(stage, `group_id=${randomUUID()}`)).toEqual([])
    await expectInvalid(stage, 'group_id', ['', 'group', groupId.slice(1)], 'ERR_INVALID_GROUP_ID')
  })

  row('amount_min', 'inclusive, a decimal', async (stage) => {
    const { scope, amounts } = await history(stage)
    expect(await amountsOf(stage, `${scope}&token_id=BASE&amount_min=2.5`)).toEqual(amounts.filter((one) => one >= 2.5))
    expect(await amountsOf(stage, `${scope}&token_id=BASE&amount_min=2.500000000000000001`)).toEqual(
      amounts.filter((one) => one > 2.5),
    )
    await expectInvalid(stage, 'amount_min', BAD_AMOUNTS, 'ERR_INVALID_AMOUNT')
  })

  row('amount_max', 'inclusive, a decimal', async (stage) => {
    const { scope, amounts } = await history(stage)
    expect(await amountsOf(stage, `${scope}&token_id=BASE&amount_max=2.50`)).toEqual(
      amounts.filter((one) => one <= 2.5),
    )
    expect(await amountsOf(stage, `${scope}&token_id=BASE&amount_max=2.499999999999999999`)).toEqual(
      amounts.filter((one) => one < 2.5),
    )
    expect(await amountsOf(stage, `${scope}&token_id=BASE&amount_min=2.5&amount_max=2.5`)).toEqual([2.5])
    await expectInvalid(stage, 'amount_max', BAD_AMOUNTS, 'ERR_INVALID_AMOUNT')
  })

  row('status', 'pending, completed or failed', async (stage) => {
    const { scope, all } = await history(stage)
    for (const status of ['pending', 'completed', 'failed']) {
      const expected = all.filter((one) => one['status'] === status).map(idOf)
      expect([status, (await idsOf(stage, `${scope}&status=${status}`)).toSorted()]).toEqual([
        status,
        expected.toSorted(),
      ])
    }
    expect(await idsOf(stage, `account_id=${stage.cast.alice.accountId}&status=pending`)).toEqual([
      stage.cast.pending.txnId,
    ])
    await expectInvalid(stage, 'status', ['', 'PENDING', 'done'], 'ERR_INVALID_QUERY')
  })

  row('page_token', 'next_page_token leads on, each row once; damaged, foreign or too long is 400', async (stage) => {
    const { scope, all } = await history(stage)
    const pages: string[][] = []
    let token = ''
    do {
      const page = await stage.viewer.read(`${PATH}?${scope}&page_size=2&page_token=${token}`)
      pages.push((page['transactions'] as readonly Members[]).map(idOf))
      expect(page['total_count']).toBe(all.length)
      token = textOf(page, 'next_page_token')
      expect(token.length).toBeLessThanOrEqual(512)
    } while (token !== '')
    expect(pages.flat()).toEqual(await idsOf(stage, scope))
    expect(pages.length).toBe(Math.ceil(all.length / 2))
    const good = textOf(await stage.viewer.read(`${PATH}?${scope}&page_size=2`), 'next_page_token')
    const bad = [
      `${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}`,
      `${good}A`,
      'x',
      'x'.repeat(512),
      'x'.repeat(513),
    ]
    await expectInvalid(stage, 'page_token', bad, 'ERR_INVALID_QUERY', scope)
    await expectInvalid(stage, 'page_token', [good], 'ERR_INVALID_QUERY', 'status=completed')
    const foreign = await stage.transactor.get(`${PATH}?${scope}&page_token=${good}`)
    expect(outcomeOf(foreign)).toBe('400 ERR_INVALID_QUERY')
  })

  row('page_size', '100 without it, 1,000 at most, more is served as 1,000', async (stage) => {
    const { scope, size } = await crowdOf(stage)
    expect(size).toBeGreaterThan(1000)
    for (const [pageSize, rows] of [
      ['', 100],
      ['&page_size=1', 1],
      ['&page_size=999', 999],
      ['&page_size=1000', 1000],
      ['&page_size=1001', 1000],
      ['&page_size=999999999999', 1000],
    ] as const) {
      const page = await stage.viewer.read(`${PATH}?${scope}${pageSize}`)
      expect([pageSize, (page['transactions'] as readonly unknown[]).length]).toEqual([pageSize, rows])
      expect([page['total_count'], page['next_page_token'] === '']).toEqual([size, false])
    }
    await expectInvalid(stage, 'page_size', ['', '0', '-1', '1.5', 'ten', '1e2'], 'ERR_INVALID_QUERY', scope)
  })

  row(
    'invalid format',
    'is 400 for each of them, all in one response; likewise for unknown and repeated ones',
    async (stage) => {
      const query =
        'account_id=a%20b&date_from=x&date_to=y&type=z&group_id=g&amount_min=-1&amount_max=a&status=s&page_size=0'
      const reply = await stage.viewer.get(`${PATH}?${query}&page_token=t&token_id=-`)
      expect(reply.status).toBe(400)
      expect(sorted(fieldsOf(reply))).toEqual(
        sorted([...query.split('&').map((pair) => pair.split('=')[0]), 'page_token', 'token_id']),
      )
      const unknown = await stage.viewer.get(`${PATH}?acount_id=alice&page_size=1`)
      expect([outcomeOf(unknown), fieldsOf(unknown)]).toEqual(['400 ERR_INVALID_QUERY', ['acount_id']])
      const repeated = await stage.viewer.get(`${PATH}?status=failed&status=failed`)
      expect([outcomeOf(repeated), fieldsOf(repeated)]).toEqual(['400 ERR_INVALID_QUERY', ['status']])
    },
  )
}

const BAD_DATES = ['', 'yesterday', '2024-02-30T00:00:00Z', '2024-01-01', '2024-01-01T00:00:00', '1700000000']
const BAD_AMOUNTS = ['', '-1', '1e3', 'many', '01', `1${'0'.repeat(18)}`, `0.${'0'.repeat(18)}1`]

interface History {
  readonly holder: Holder
  /** `account_id=…`: what follows is about this account alone. */
  readonly scope: string
  /** As they are listed. */
  readonly all: readonly Members[]
  /** The only one under `groupId`. */
  readonly third: Members
  readonly groupId: string
  /** Of the base unit, ascending. */
  readonly amounts: readonly number[]
}

/** Of one account, with something for each filter. */
const history = once(async ({ transactor, cast }): Promise<History> => {
  const holder = await transactor.register('queried@transactions')
  const groupId = randomUUID()
  await moved(transactor, holder, { type: 'credit', amount: '1' })
  await moved(transactor, holder, { type: 'credit', amount: '2.50' })
  const { txn_id: thirdId } = await moved(transactor, holder, { type: 'credit', amount: '3', group_id: groupId })
  await moved(transactor, holder, { type: 'debit', amount: '0.5' })
  await submitted(transactor, holder, { type: 'debit', amount: '1000' })
  const toHolder = { type: 'transfer', to_account_id: holder.accountId }
  await moved(transactor, cast.bob, { ...toHolder, amount: '2', token_id: 'COIN' })
  await moved(transactor, holder, { type: 'burn', amount: '2', token_id: 'COIN' })
  await moved(transactor, cast.alice, { type: 'mint', amount: '2', token_id: 'COIN' })
  await mintedTo(transactor, cast.alice, { class_id: cast.classId, instance_id: 'queried' }, holder)
  // There is as much of it again, and bob has his part, as the other chapters know it.
  await moved(transactor, cast.alice, {
    type: 'transfer',
    to_account_id: cast.bob.accountId,
    amount: '2',
    token_id: 'COIN',
  })
  const scope = `account_id=${holder.accountId}`
  const all = await transactor.readAll(`${PATH}?${scope}`, 'transactions')
  const base = all.filter((one) => one['token_id'] === 'BASE')
  return {
    holder,
    scope,
    all,
    third: all.find((one) => one['txn_id'] === thirdId) ?? {},
    groupId,
    amounts: base.map(({ amount }) => Number(amount)).toSorted((a, b) => a - b),
  }
})

function idOf(transaction: Members): string {
  return textOf(transaction, 'txn_id')
}

async function idsOf({ viewer }: Stage, query: string): Promise<readonly string[]> {
  return (await viewer.readAll(`${PATH}?${query}`, 'transactions')).map(idOf)
}

async function amountsOf({ viewer }: Stage, query: string): Promise<readonly number[]> {
  const found = await viewer.readAll(`${PATH}?${query}`, 'transactions')
  return found.map(({ amount }) => Number(amount)).toSorted((a, b) => a - b)
}

function at(timeMs: number): string {
  return new Date(timeMs).toISOString()
}

async function expectInvalid(
  { viewer }: Stage,
  name: string,
  values: readonly string[],
  code: string,
  scope = 'order=desc',
): Promise<void> {
  for (const value of values) {
    const reply = await viewer.get(`${PATH}?${scope}&${name}=${encodeURIComponent(value)}`)
    expect([value, outcomeOf(reply), fieldsOf(reply)]).toEqual([value, `400 ${code}`, [name]])
  }
}
