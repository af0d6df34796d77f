/** `ledger verify` on what a client has saved. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LedgerClient, send } from '../support/client/client.ts'
import { type Finished, runLedger } from './start-harness.ts'

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
