/** A thread that makes keys and whole signed requests, so that preparing is fast and does not affect measurements. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { type AccountKeys, type Members, newAccountKeys, signed } from '../../support/client/client-keys.ts'
import { sharedKeyOf } from '../../support/loader/shared-keys.ts'
import { accountIdOf } from '../../support/loader/load-plan.ts'
import { plainAccount } from '../scenes/plain-schema.ts'
import {
  BATCH_SIZE,
  type LoadedAccounts,
  type PlainScenario,
  type Scenario,
  type ShardByAccount,
  SPREAD_ACCOUNTS,
} from './load-messages.ts'

export interface WorkerSetup {
  /** The number of workers: the n-th request of one is followed by the n-th of the next. */
  readonly index: number
  readonly workers: number
  readonly host: string
  readonly token: string
  /** Accounts that belong to this worker alone. */
  readonly accounts: number
  /** Sum over all workers. */
  readonly total: number
  /** null: they must be registered first. */
  readonly loaded: LoadedAccounts | null
  /** Is in each idempotency key: accounts that stay have keys of earlier runs. */
  readonly run: string
  /** Accounts that all workers share, with their private keys. */
  readonly shared: readonly { readonly accountId: string; readonly keyPem: string }[]
}

export type WorkerOrder =
  | { readonly kind: 'register' }
  /** Not answered. */
  | { readonly kind: 'locate'; readonly shards: ShardByAccount }
  | { readonly kind: 'sign'; readonly scenario: Scenario; readonly count: number }

/** Requests one after another; the n-th ends at `ends[n]`. */
export interface WorkerStock {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly ends: Uint32Array<ArrayBuffer>
}

type SignedScenario = Exclude<Scenario, PlainScenario>

interface Account {
  readonly accountId: string
  readonly privateKey: AccountKeys['privateKey']
  submissions: number
}

/** A possible receiver of transfers. */
interface Located {
  readonly accountId: string
  readonly shardId: number
}

/** More than all transfers of one account together. */
const FUNDS = '1000000'
const TRANSFERRED = '0.01'
const MAX_TRIES = 1_000

const setup = workerData as WorkerSetup
const shared: readonly Account[] = setup.shared.map(({ accountId, keyPem }) => ({
  accountId,
  privateKey: createPrivateKey(keyPem),
  submissions: 0,
}))
/** By number; loaded accounts from their first use. */
const accounts = new Map<number, Account>()
/** Of loaded accounts, by number; from their first use. */
const loadedKeys = new Map<number, KeyObject>()
let located: readonly Located[] = []
let shards: ReadonlyMap<string, number> = new Map()
let serial = 0

parentPort?.on('message', (order: WorkerOrder) => {
  if (order.kind === 'locate') {
    shards = new Map(Object.entries(order.shards))
    const sharedIds = new Set(shared.map(({ accountId }) => accountId))
    located = [...shards]
      .map(([accountId, shardId]) => ({ accountId, shardId }))
      .filter(({ accountId }) => !sharedIds.has(accountId))
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
    accounts.set(number, { accountId, privateKey, submissions: 0 })
    return requestOf('/v1/accounts', { account_id: accountId, public_key: jwk })
  })
  if (setup.index > 0) return requests
  const registrationsOfShared = setup.shared.map(({ accountId, keyPem }) => {
    const pem = createPublicKey(keyPem).export({ type: 'spki', format: 'pem' }).toString()
    return requestOf('/v1/accounts', { account_id: accountId, public_key: pem })
  })
  return [...requests, ...registrationsOfShared]
}

function submissions(scenario: Scenario, count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => {
    if (scenario === 'plain-order' || scenario === 'plain-transfer') return plainRequest(scenario)
    if (scenario !== 'batch') return requestOf('/v1/transactions', submission(scenario, number))
    const batch = Array.from({ length: BATCH_SIZE }, () => submission(scenario, number))
    return requestOf('/v1/transactions/batch', { submissions: batch })
  })
}

function submission(scenario: SignedScenario, number: number): Members {
  const account = submitter(scenario, number)
  if (account === undefined) throw new Error('there is no account to submit to')
  return signed(fieldsOf(scenario, account), account.privateKey)
}

/** The plain ledger has accounts from 0 on. Amounts are those of the ledger's own orders. */
function plainRequest(scenario: PlainScenario): string {
  serial += 1
  const key = `${setup.run}-${setup.index}-${serial}`
  const [from, step] = [Math.floor(Math.random() * setup.total), 1 + Math.floor(Math.random() * (setup.total - 1))]
  if (scenario === 'plain-order') {
    return requestOf('/orders', { key, account: plainAccount(from), amount: serial % 2 === 1 ? '1000.25' : '-1.5' })
  }
  const to = (from + step) % setup.total
  return requestOf('/transfers', { key, from: plainAccount(from), to: plainAccount(to), amount: TRANSFERRED })
}

/** `number`: among this worker's requests. */
function submitter(scenario: SignedScenario, number: number): Account | undefined {
  switch (scenario) {
    case 'hot':
      return shared[0]
    case 'pair':
      return shared[(number * setup.workers + setup.index) % 2]
    case 'ten':
      return shared[anyOf(shared)]
    case 'spread':
      return accountAt(number % Math.min(setup.accounts, Math.ceil(SPREAD_ACCOUNTS / setup.workers)))
    case 'each':
    case 'fund':
      return accountAt(number % setup.accounts)
    case 'random':
    case 'batch':
    case 'transfer':
      return accountAt(Math.floor(Math.random() * setup.accounts))
  }
}

/** undefined: not registered yet. */
function accountAt(number: number): Account | undefined {
  const known = accounts.get(number)
  if (known !== undefined || setup.loaded === null) return known
  const loadedNumber = number * setup.workers + setup.index
  const { seed, keys } = setup.loaded
  const keyNumber = loadedNumber % keys
  const privateKey = loadedKeys.get(keyNumber) ?? sharedKeyOf(seed, keyNumber).keys.privateKey
  loadedKeys.set(keyNumber, privateKey)
  const account = { accountId: accountIdOf(loadedNumber), privateKey, submissions: 0 }
  accounts.set(number, account)
  return account
}

function fieldsOf(scenario: SignedScenario, account: Account): Members {
  serial += 1
  const fields = { account_id: account.accountId, idempotency_key: `${setup.run}-${setup.index}-${serial}` }
  if (scenario === 'fund') return { ...fields, amount: FUNDS, type: 'credit' }
  if (scenario === 'transfer') {
    return { ...fields, amount: TRANSFERRED, type: 'transfer', to_account_id: receiverFor(account) }
  }
  // By turns; credits exceed debits by far, so that hardly any debit fails.
  account.submissions += 1
  const credit = account.submissions % 2 === 1
  return { ...fields, amount: credit ? '1000.25' : '1.5', type: credit ? 'credit' : 'debit' }
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
