import type { HeldAccount } from './held-account.ts'

const DATABASE = 'ledger-console'
const STORE = 'account-keys'

/** Of one ledger, oldest first. */
export async function heldAccounts(ledgerId: string): Promise<readonly HeldAccount[]> {
  const all = await inStore('readonly', (store) => store.getAll() as IDBRequest<HeldAccount[]>)
  return all.filter((one) => one.ledgerId === ledgerId).toSorted((one, other) => one.createdAtMs - other.createdAtMs)
}

/** Rejects if this browser already holds a key of the account: a key is never replaced. */
export async function keepAccount(account: HeldAccount): Promise<void> {
  // Without permission to persist, a browser may delete keys when its disk is full.
  void navigator.storage.persist().catch(() => false)
  try {
    await inStore('readwrite', (store) => store.add(account))
  } catch (cause) {
    if (!(cause instanceof DOMException) || cause.name !== 'ConstraintError') throw cause
    throw new Error('This browser already holds a key of this account. Reload the page to use it.', { cause })
  }
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
    const transaction = database.transaction(STORE, mode)
    const completed = completionOf(transaction)
    const [result] = await Promise.all([resultOf(work(transaction.objectStore(STORE))), completed])
    return result
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

/** A write is durable when its transaction completes, not when its request succeeds. */
function completionOf(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve())
    transaction.addEventListener('abort', () =>
      reject(transaction.error ?? new Error('The store of this browser failed.')),
    )
  })
}
