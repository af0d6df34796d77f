/** A thread that makes keys and whole signed requests, so that preparing is fast and costs nothing while it is measured. */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { type AccountKeys, type Members, newAccountKeys, signed } from '../support/client-keys.ts'
import type { Scenario } from './load-messages.ts'

export interface WorkerSetup {
  readonly index: number
  readonly host: string
  readonly token: string
  /** Accounts that are this worker's alone. */
  readonly accounts: number
  /** The one account that all share, and its private key as PEM. */
  readonly hotAccountId: string
  readonly hotKeyPem: string
}

export type WorkerOrder =
  | { readonly kind: 'register' }
  | { readonly kind: 'sign'; readonly scenario: Scenario; readonly count: number }

/** Requests one after another; the n-th ends where `ends[n]` says. */
export interface WorkerStock {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly ends: Uint32Array<ArrayBuffer>
}

interface Account {
  readonly accountId: string
  readonly privateKey: AccountKeys['privateKey']
  submissions: number
}

const setup = workerData as WorkerSetup
const hot: Account = { accountId: setup.hotAccountId, privateKey: createPrivateKey(setup.hotKeyPem), submissions: 0 }
const accounts: Account[] = []
let serial = 0

parentPort?.on('message', (order: WorkerOrder) => {
  const requests = order.kind === 'register' ? registrations() : submissions(order.scenario, order.count)
  const stock = packed(requests)
  parentPort?.postMessage(stock, [stock.bytes.buffer, stock.ends.buffer])
})

function registrations(): readonly string[] {
  const requests = Array.from({ length: setup.accounts }, (_, number) => {
    const { privateKey, jwk } = newAccountKeys()
    const accountId = `account-${setup.index}-${number}@bench`
    accounts.push({ accountId, privateKey, submissions: 0 })
    return requestOf('/v1/accounts', { account_id: accountId, public_key: jwk })
  })
  if (setup.index > 0) return requests
  const pem = createPublicKey(setup.hotKeyPem).export({ type: 'spki', format: 'pem' }).toString()
  return [...requests, requestOf('/v1/accounts', { account_id: hot.accountId, public_key: pem })]
}

function submissions(scenario: Scenario, count: number): readonly string[] {
  return Array.from({ length: count }, () => {
    const account = scenario === 'hot' ? hot : accounts[Math.floor(Math.random() * accounts.length)]
    if (account === undefined) throw new Error('there is no account to submit to')
    return requestOf('/v1/transactions', signed(next(account), account.privateKey))
  })
}

/** Credits and debits by turns; far more comes in than goes out, so that order hardly ever makes a debit fail. */
function next(account: Account): Members {
  serial += 1
  account.submissions += 1
  const credit = account.submissions % 2 === 1
  return {
    account_id: account.accountId,
    amount: credit ? '1000.25' : '1.5',
    type: credit ? 'credit' : 'debit',
    idempotency_key: `${setup.index}-${serial}`,
  }
}

function requestOf(path: string, body: Members): string {
  const text = JSON.stringify(body)
  return [
    `POST ${path} HTTP/1.1`,
    `Host: ${setup.host}`,
    `Authorization: Bearer ${setup.token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    '',
    text,
  ].join('\r\n')
}

function packed(requests: readonly string[]): WorkerStock {
  const size = requests.reduce((sum, request) => sum + Buffer.byteLength(request), 0)
  const bytes = Buffer.from(new ArrayBuffer(size))
  const ends = new Uint32Array(requests.length)
  let end = 0
  for (const [index, request] of requests.entries()) {
    end += bytes.write(request, end)
    ends[index] = end
  }
  return { bytes, ends }
}
