/** A thread that makes keys and whole signed requests, so that preparing is fast and costs nothing while it is measured. */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { type AccountKeys, type Members, newAccountKeys, signed } from '../support/client-keys.ts'
import type { Scenario, ShardByAccount } from './load-messages.ts'

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
  /** Not answered. */
  | { readonly kind: 'locate'; readonly shards: ShardByAccount }
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

/** One that transfers can go to. */
interface Located {
  readonly accountId: string
  readonly shardId: number
}

/** More than all transfers of one account together. */
const FUNDS = '1000000'
const TRANSFERRED = '0.01'
const MAX_TRIES = 1_000

const setup = workerData as WorkerSetup
const hot: Account = { accountId: setup.hotAccountId, privateKey: createPrivateKey(setup.hotKeyPem), submissions: 0 }
const accounts: Account[] = []
let located: readonly Located[] = []
let shards: ReadonlyMap<string, number> = new Map()
let serial = 0

parentPort?.on('message', (order: WorkerOrder) => {
  if (order.kind === 'locate') {
    shards = new Map(Object.entries(order.shards))
    located = [...shards]
      .map(([accountId, shardId]) => ({ accountId, shardId }))
      .filter(({ accountId }) => accountId !== hot.accountId)
    return
  }
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
  return Array.from({ length: count }, (_, number) => {
    const account = submitter(scenario, number)
    return requestOf('/v1/transactions', signed(fieldsOf(scenario, account), account.privateKey))
  })
}

function submitter(scenario: Scenario, number: number): Account {
  if (scenario === 'hot') return hot
  const account = accounts[scenario === 'fund' ? number % accounts.length : anyOf(accounts)]
  if (account === undefined) throw new Error('there is no account to submit to')
  return account
}

function fieldsOf(scenario: Scenario, account: Account): Members {
  serial += 1
  const fields = { account_id: account.accountId, idempotency_key: `${setup.index}-${serial}` }
  switch (scenario) {
    case 'random':
    case 'hot': {
      // By turns; far more comes in than goes out, so that order hardly ever makes a debit fail.
      account.submissions += 1
      const credit = account.submissions % 2 === 1
      return { ...fields, amount: credit ? '1000.25' : '1.5', type: credit ? 'credit' : 'debit' }
    }
    case 'fund':
      return { ...fields, amount: FUNDS, type: 'credit' }
    case 'transfer':
      return { ...fields, amount: TRANSFERRED, type: 'transfer', to_account_id: receiverFor(account) }
  }
}

function receiverFor({ accountId }: Account): string {
  const shardId = shards.get(accountId)
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const receiver = located[anyOf(located)]
    if (receiver !== undefined && receiver.shardId !== shardId) return receiver.accountId
  }
  throw new Error('there is no account on another shard')
}

function anyOf(list: readonly unknown[]): number {
  return Math.floor(Math.random() * list.length)
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
