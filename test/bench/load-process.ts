/** The load generator, a process of its own: what it costs is not counted to the ledger. Takes orders one at a time. */
import { runLoad } from './load-run.ts'
import type { LoadOrder, LoadReply, Scenario } from './load-messages.ts'
import { createSigningPool, type SigningPool } from './signing-pool.ts'

interface Target {
  readonly host: string
  readonly port: number
  readonly token: string
  readonly pool: SigningPool
}

const REGISTRATION_TIME_LIMIT_S = 600

let target: Target | undefined
let stockOf: Scenario | undefined
let stock: { readonly requests: readonly Uint8Array[]; next: number } = { requests: [], next: 0 }

process.on('message', (order: LoadOrder) => {
  carryOut(order).then(answer, (error: unknown) => {
    answer({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  })
})

function answer(reply: LoadReply): void {
  process.send?.(reply)
}

async function carryOut(order: LoadOrder): Promise<LoadReply> {
  if (order.kind === 'setup') {
    const { hostname, port, host } = new URL(order.origin)
    target = {
      host: hostname,
      port: Number(port),
      token: order.token,
      pool: createSigningPool(host, order.token, order.accounts),
    }
    return { kind: 'done' }
  }
  if (target === undefined) throw new Error('there is no ledger to load yet')
  const { host, port, token, pool } = target
  switch (order.kind) {
    case 'register': {
      stock = { requests: await pool.registrations(), next: 0 }
      const { connections } = order
      const follow = undefined
      const seconds = REGISTRATION_TIME_LIMIT_S
      return {
        kind: 'ran',
        result: await runLoad({ host, port, connections, seconds, stock, expectedStatus: 201, follow }),
      }
    }
    case 'prepare': {
      // What was signed and not sent comes first: the debits that follow count on its credits.
      const left = stockOf === order.scenario ? stock.requests.slice(stock.next) : []
      const missing = Math.max(0, order.count - left.length)
      stock = { requests: [...left, ...(await pool.submissions(order.scenario, missing))], next: 0 }
      stockOf = order.scenario
      return { kind: 'done' }
    }
    case 'run': {
      const { connections, seconds } = order
      const follow = (body: string): string => {
        const { txn_id: txnId } = JSON.parse(body) as { txn_id: string }
        return `GET /v1/transactions/${txnId} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`
      }
      return {
        kind: 'ran',
        result: await runLoad({ host, port, connections, seconds, stock, expectedStatus: 202, follow }),
      }
    }
  }
}
