/** Runs `ledger verify` on the chains and receipts that a client has read. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LedgerClient, send, textOf } from '../support/client/client.ts'
import { type Finished, runLedger } from './start-harness.ts'

export interface OfflineCheck extends Finished {
  /** The transactions of the accounts, as the list shows them. */
  readonly txnIds: readonly string[]
}

export async function checkOffline(client: LedgerClient, accountIds: readonly string[]): Promise<OfflineCheck> {
  const chains: object[] = []
  const receipts: object[] = []
  const txnIds: string[] = []
  for (const accountId of accountIds) {
    const entries = await client.readAll(`/v1/accounts/${accountId}/audit-chain`, 'entries')
    chains.push({ account_id: accountId, entries })
    for (const listed of await client.readAll(`/v1/transactions?account_id=${accountId}`, 'transactions')) {
      const txnId = textOf(listed, 'txn_id')
      txnIds.push(txnId)
      receipts.push(await client.read(`/v1/transactions/${txnId}/receipt`))
    }
  }
  return { ...(await verifyOffline(client, ...chains, ...receipts)), txnIds }
}

/** `ledger verify` on what a client has saved. */
export async function verifyOffline(client: LedgerClient, ...saved: readonly object[]): Promise<Finished> {
  const directory = mkdtempSync(join(tmpdir(), 'ledger-offline-'))
  try {
    const file = (name: string, text: string): string => {
      const path = join(directory, name)
      writeFileSync(path, text)
      return path
    }
    const { body: jwks } = await send(client.origin, { method: 'GET', path: '/.well-known/jwks.json' })
    const values = file('saved.ndjson', saved.map((value) => JSON.stringify(value)).join('\n'))
    return await runLedger(['verify', '--jwks', file('jwks.json', jwks), values])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
