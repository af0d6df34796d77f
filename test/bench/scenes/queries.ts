/** Lists of the written rows, one request at a time: duration and cost of each. */
import { type LedgerClient, textOf } from '../../support/client/client.ts'
import { say } from '../context.ts'
import { cpuShared, cpuUsed, readCpu } from '../report/cpu.ts'
import type { LedgerBench } from '../ledger-bench.ts'
import { type Latency, latencyOf } from '../report/statistics.ts'

export interface QueriesMeasured {
  /** The size of the lists. */
  readonly transactions: number
  readonly queries: readonly QueryMeasured[]
}

export interface QueryMeasured {
  readonly name: string
  readonly latency: Latency
  /** Rows of a reply, on average. */
  readonly rows: number
  /** `total_count` of the last reply; null where the reply has none. */
  readonly totalCount: number | null
  /** Whether that is exact, or only a lower bound. */
  readonly exact: boolean
  /** Microseconds for each request. */
  readonly edgeCpuUs: number
  readonly postgresqlCpuUs: number
}

export interface Query {
  readonly name: string
  /** Default: the bench's. */
  readonly client?: LedgerClient
  /** The path of the `turn`-th request. */
  readonly path: (turn: number) => string
}

interface Listed {
  readonly txn_id: string
  readonly account_id: string
  readonly created_at: string
  readonly amount: string
}

/** Requests of each query within `LIMIT_MS`. */
const READS = 200
const LIMIT_MS = 20_000
const PAGE_SIZE = 100
const DEEP_PAGE = 100
/** The largest page that the interface gives. */
const STRIDE = 1_000
const LIST = '/v1/transactions'

export interface QueriesOptions {
  /** In addition to those of transactions. */
  readonly others?: readonly Query[]
  /** Called with a failed query, which is then omitted. Without it the first failure ends all. */
  readonly onFailure?: (name: string, cause: unknown) => void
  /** Whether to walk to the last page, which takes as long as the list is. */
  readonly toTheEnd?: boolean
}

export async function measureQueries(
  bench: LedgerBench,
  { others = [], toTheEnd = true, onFailure }: QueriesOptions = {},
): Promise<QueriesMeasured> {
  const { client } = bench
  // The lists must not be empty.
  await bench.rate.perSecond()
  const reply = await client.get(`${LIST}?page_size=1000`)
  const { transactions: listed, total_count: total } = JSON.parse(reply.body) as {
    readonly transactions: readonly Listed[]
    readonly total_count: number
  }
  if (reply.status !== 200 || listed.length === 0) throw new Error(`there are no transactions to list: ${reply.status}`)
  const queries: QueryMeasured[] = []
  for (const query of [...queriesOn(listed), ...(await deepPages(client, toTheEnd)), ...others]) {
    say(`queries: ${query.name} ...`)
    try {
      queries.push(await measureQuery(bench, query))
    } catch (cause) {
      bench.interrupted.throwIfAborted()
      if (onFailure === undefined) throw cause
      onFailure(query.name, cause)
    }
  }
  return { transactions: total, queries }
}

async function measureQuery({ client, cluster, load }: LedgerBench, query: Query): Promise<QueryMeasured> {
  const before = readCpu(cluster, load.pid)
  const asked = await ask(query.client ?? client, query)
  const cpuUs = cpuShared(cpuUsed(before, readCpu(cluster, load.pid)), asked.latency.count)
  return { name: query.name, ...asked, edgeCpuUs: cpuUs.edge, postgresqlCpuUs: cpuUs.postgresql }
}

/** `listed`: the latest transactions, whose accounts and times the queries use by turns. */
function queriesOn(listed: readonly Listed[]): readonly Query[] {
  const nth = (turn: number): Listed => {
    const one = listed[turn % listed.length]
    if (one === undefined) throw new Error('there are no transactions to list')
    return one
  }
  const account = (turn: number): string => `account_id=${encodeURIComponent(nth(turn).account_id)}`
  const minute = (turn: number): string => {
    const atMs = Date.parse(nth(turn).created_at)
    return `date_from=${new Date(atMs - 60_000).toISOString()}&date_to=${new Date(atMs).toISOString()}`
  }
  const amount = (turn: number): string => `amount_min=${nth(turn).amount}&amount_max=${nth(turn).amount}`
  const list = (filters: string, size = PAGE_SIZE): string => `${LIST}?page_size=${size}${filters && `&${filters}`}`
  return [
    { name: 'one transaction', path: (turn) => `${LIST}/${nth(turn).txn_id}` },
    { name: 'the latest 100', path: () => list('') },
    { name: 'the oldest 100', path: () => list('order=asc') },
    { name: 'of an account', path: (turn) => list(account(turn)) },
    { name: 'of a minute', path: (turn) => list(minute(turn)) },
    { name: 'by amount, of many', path: (turn) => list(amount(turn)) },
    { name: 'by amount, of none', path: () => list('amount_min=3&amount_max=4') },
    { name: 'of an account, by amount', path: (turn) => list(`${account(turn)}&${amount(turn)}`) },
    { name: 'total_count, all', path: () => list('', 1) },
    { name: 'total_count, of an account', path: (turn) => list(account(turn), 1) },
    { name: 'total_count, of a minute', path: (turn) => list(minute(turn), 1) },
    { name: 'total_count, by amount', path: (turn) => list(amount(turn), 1) },
    { name: 'balances', path: (turn) => `/v1/accounts/${encodeURIComponent(nth(turn).account_id)}/balances` },
    {
      name: 'a chain, 100 entries',
      path: (turn) => `/v1/accounts/${encodeURIComponent(nth(turn).account_id)}/audit-chain?page_size=${PAGE_SIZE}`,
    },
  ]
}

/** Tokens are valid for any page size. `toTheEnd`: reads the whole list. */
async function deepPages(client: LedgerClient, toTheEnd: boolean): Promise<readonly Query[]> {
  say('queries: looking for deep pages ...')
  const at = (token: string, size = PAGE_SIZE): string =>
    `${LIST}?page_size=${size}&page_token=${encodeURIComponent(token)}`
  /** The token after this number of pages, or of the last page. */
  const walk = async (from: string, size: number, most: number): Promise<string> => {
    let last = from
    for (let passed = 0; passed < most; passed += 1) {
      const next = textOf(await client.read(at(last, size)), 'next_page_token')
      if (next === '') break
      last = next
    }
    return last
  }
  const second = await walk('', PAGE_SIZE, 1)
  const deep = await walk('', PAGE_SIZE, DEEP_PAGE - 1)
  const pages = [
    { name: 'page 2, which counts nothing', path: () => at(second) },
    { name: `page ${DEEP_PAGE}, or the last before it`, path: () => at(deep) },
  ]
  if (!toTheEnd) return pages
  const stride = await walk(deep, STRIDE, Number.POSITIVE_INFINITY)
  const last = await walk(stride, PAGE_SIZE, Number.POSITIVE_INFINITY)
  return [...pages, { name: 'the last page', path: () => at(last) }]
}

type Asked = Omit<QueryMeasured, 'name' | 'edgeCpuUs' | 'postgresqlCpuUs'>

async function ask(client: LedgerClient, { name, path }: Query): Promise<Asked> {
  const untilMs = performance.now() + LIMIT_MS
  const tookMs: number[] = []
  let rows = 0
  let totalCount: number | null = null
  let exact = true
  for (let turn = 0; turn < READS && performance.now() < untilMs; turn += 1) {
    const beganMs = performance.now()
    const reply = await client.get(path(turn))
    tookMs.push(performance.now() - beganMs)
    if (reply.status !== 200) throw new Error(`${name}: ${reply.status} ${reply.body}`)
    const members = JSON.parse(reply.body) as Readonly<Record<string, unknown>>
    rows += Object.values(members).find((value) => Array.isArray(value))?.length ?? 1
    totalCount = typeof members['total_count'] === 'number' ? members['total_count'] : null
    exact = reply.headers['x-total-count-relation'] === undefined
  }
  return { latency: latencyOf(Float64Array.from(tookMs)), rows: rows / tookMs.length, totalCount, exact }
}
