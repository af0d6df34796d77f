/** The threads that prepare requests. They are idle during measurements. */
import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { newAccountKeys } from '../../support/client/client-keys.ts'
import type { LoadedAccounts, Scenario, ShardByAccount } from './load-messages.ts'
import type { WorkerOrder, WorkerSetup, WorkerStock } from './signing-worker.ts'

export interface SigningPool {
  /** Whole requests that register every account. */
  readonly registrations: () => Promise<readonly Uint8Array[]>
  /** Before the first transfers. */
  readonly locate: (shards: ShardByAccount) => void
  /** This number of whole requests. */
  readonly submissions: (scenario: Scenario, count: number) => Promise<readonly Uint8Array[]>
  readonly close: () => Promise<void>
}

/** Accounts that every worker submits to: the first alone, the first two, or all. */
const SHARED_ACCOUNTS = 10
const RUN_BYTES = 4

export interface SigningPoolOptions {
  readonly host: string
  readonly token: string
  readonly accounts: number
  /** null: they must be registered first. */
  readonly loaded: LoadedAccounts | null
}

export function createSigningPool({ host, token, accounts, loaded }: SigningPoolOptions): SigningPool {
  const run = randomBytes(RUN_BYTES).toString('hex')
  const shared = Array.from({ length: SHARED_ACCOUNTS }, (_, number) => ({
    accountId: `hot-${number}@bench`,
    keyPem: newAccountKeys().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }))
  const count = Math.min(availableParallelism(), accounts)
  const workers = Array.from({ length: count }, (_, index) => {
    const setup: WorkerSetup = {
      index,
      workers: count,
      host,
      token,
      accounts: shareOf(accounts, count, index),
      total: accounts,
      loaded,
      run,
      shared,
    }
    return new Worker(new URL('signing-worker.js', import.meta.url), { workerData: setup })
  })
  const all = async (orderOf: (index: number) => WorkerOrder): Promise<readonly Uint8Array[]> =>
    mixed(await Promise.all(workers.map((worker, index) => ask(worker, orderOf(index)))))
  return {
    registrations: () => all(() => ({ kind: 'register' })),
    locate: (shards) => {
      for (const worker of workers) worker.postMessage({ kind: 'locate', shards } satisfies WorkerOrder, [])
    },
    submissions: (scenario, total) => all((index) => ({ kind: 'sign', scenario, count: shareOf(total, count, index) })),
    close: async () => {
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

function shareOf(total: number, shares: number, index: number): number {
  return Math.floor(total / shares) + (index < total % shares ? 1 : 0)
}

function ask(worker: Worker, order: WorkerOrder): Promise<WorkerStock> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      worker.off('message', onMessage)
      worker.off('error', onError)
    }
    const onMessage = (stock: WorkerStock): void => {
      settle()
      resolve(stock)
    }
    const onError = (error: Error): void => {
      settle()
      reject(error)
    }
    worker.on('message', onMessage)
    worker.on('error', onError)
    worker.postMessage(order, [])
  })
}

/** One request of each worker by turns, in each worker's order. */
function mixed(stocks: readonly WorkerStock[]): readonly Uint8Array[] {
  const requests: Uint8Array[] = []
  const longest = Math.max(...stocks.map(({ ends }) => ends.length))
  for (let index = 0; index < longest; index += 1) {
    for (const { bytes, ends } of stocks) {
      if (index < ends.length) requests.push(bytes.subarray(index === 0 ? 0 : ends[index - 1], ends[index]))
    }
  }
  return requests
}
