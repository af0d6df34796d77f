import type { AccountKey } from '../../../client/index.ts'

/** An account whose key this browser made. The private key can sign, and cannot be read. */
export interface HeldAccount {
  readonly ledgerId: string
  readonly accountId: string
  readonly key: AccountKey
  readonly createdAtMs: number
}

const DATABASE = 'ledger-console'
const STORE = 'account-keys'

/** Of one ledger, oldest first. */
export async function heldAccounts(ledgerId: string): Promise<readonly HeldAccount[]> {
  const all = await inStore('readonly', (store) => store.getAll() as IDBRequest<HeldAccount[]>)
  return all.filter((one) => one.ledgerId === ledgerId).toSorted((one, other) => one.createdAtMs - other.createdAtMs)
}

export async function keepAccount(account: HeldAccount): Promise<void> {
  await inStore('readwrite', (store) => store.put(account))
}

/** Without a copy of the key, the account can order nothing any more. */
export async function forgetAccount({ ledgerId, accountId }: HeldAccount): Promise<void> {
  await inStore('readwrite', (store) => store.delete([ledgerId, accountId]))
}

async function inStore<Result>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const opening = indexedDB.open(DATABASE, 1)
  opening.addEventListener('upgradeneeded', () => {
    opening.result.createObjectStore(STORE, { keyPath: ['ledgerId', 'accountId'] })
  })
  const database = await resultOf(opening)
  try {
    return await resultOf(work(database.transaction(STORE, mode).objectStore(STORE)))
  } finally {
    database.close()
  }
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new Error('The store of this browser failed.')))
  })
}
