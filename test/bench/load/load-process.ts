/**
 * The load generator, a separate process so that its cost does not count as the ledger's. Executes its commands one at
 * a time.
 */
import type { FollowTarget } from './follower.ts'
import type { LoadOrder, LoadReply, LoadSignal, Scenario } from './load-messages.ts'
import { type Ending, runLoad } from './load-run.ts'
import { createSigningPool, type SigningPool } from './signing-pool.ts'
import type { Stock } from './stock.ts'

/** The key of a load: requests signed for some accounts are never sent for others. */
interface Target {
  readonly followed: FollowTarget
  readonly pool: SigningPool
  stock: Stock
  stockOf: Scenario | undefined
}

const REGISTRATION_TIME_LIMIT_S = 600

let target: Target | undefined
let ending: Ending = { asked: false }

process.on('message', (order: LoadOrder | LoadSignal) => {
  if (order.kind === 'finish') {
    ending.asked = true
    return
  }
  carryOut(order).then(answer, (error: unknown) => {
    answer({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  })
})

function answer(reply: LoadReply): void {
  process.send?.(reply)
}

function expectedOf(scenario: Scenario): 'created' | 'accepted' | 'batches' {
  if (scenario === 'batch') return 'batches'
  return scenario === 'plain-order' || scenario === 'plain-transfer' ? 'created' : 'accepted'
}

async function carryOut(order: LoadOrder): Promise<LoadReply> {
  if (order.kind === 'setup') {
    const { hostname, port, host } = new URL(order.origin)
    const { token } = order
    const requestOf = (acceptedBody: string): string => {
      const { txn_id: txnId } = JSON.parse(acceptedBody) as { txn_id: string }
      return `GET /v1/transactions/${txnId} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`
    }
    await target?.pool.close()
    target = {
      followed: { host: hostname, port: Number(port), requestOf },
      pool: createSigningPool({ host, token, accounts: order.accounts, loaded: order.loaded }),
      stock: { requests: [], next: 0 },
      stockOf: undefined,
    }
    return { kind: 'done' }
  }
  if (target === undefined) throw new Error('there is no ledger to load yet')
  const { followed, pool } = target
  switch (order.kind) {
    case 'register': {
      const stock = { requests: await pool.registrations(), next: 0 }
      ending = { asked: false }
      const loop = { kind: 'closed', connections: order.connections } as const
      const plan = { loop, seconds: REGISTRATION_TIME_LIMIT_S }
      return { kind: 'ran', result: await runLoad({ ...plan, target: followed, stock, ending, expects: 'created' }) }
    }
    case 'locate':
      pool.locate(order.shards)
      return { kind: 'done' }
    case 'prepare': {
      // Requests that were signed and not sent come first: later debits depend on their credits.
      const left = target.stockOf === order.scenario ? target.stock.requests.slice(target.stock.next) : []
      const missing = Math.max(0, order.count - left.length)
      target.stock = { requests: [...left, ...(await pool.submissions(order.scenario, missing))], next: 0 }
      target.stockOf = order.scenario
      return { kind: 'done' }
    }
    case 'run': {
      ending = { asked: false }
      const { stock } = target
      const expects = target.stockOf === undefined ? 'accepted' : expectedOf(target.stockOf)
      return { kind: 'ran', result: await runLoad({ ...order.plan, target: followed, stock, ending, expects }) }
    }
  }
}
