/**
 * The ledger that `ledger up` runs on a data directory: its address, and its clients with the generated secrets.
 * `ledger up` writes the address when it is ready. A file of an ended ledger may be left over.
 */
import { join } from 'node:path'
import * as v from 'valibot'
import { readPrivateFile, replacePrivateFile } from '../../system/private-file.ts'

const addressSchema = v.pipe(v.string(), v.parseJson(), v.object({ addresses: v.array(v.string()) }))

export interface LocalLedger {
  /** Of its first edge; undefined: no start has written it. */
  readonly address: string | undefined
  /** The file with the secrets. */
  readonly clientsFile: string
}

export function writeAddresses(dataDir: string, addresses: readonly string[]): void {
  replacePrivateFile(addressFile(dataDir), `${JSON.stringify({ addresses })}\n`)
}

/** Undefined: no `ledger up` has generated clients there. */
export function localLedger(dataDir: string): LocalLedger | undefined {
  const clientsFile = join(dataDir, 'clients.json')
  if (readPrivateFile(clientsFile) === undefined) return undefined
  const read = v.safeParse(addressSchema, readPrivateFile(addressFile(dataDir)))
  return { address: read.success ? read.output.addresses[0] : undefined, clientsFile }
}

function addressFile(dataDir: string): string {
  return join(dataDir, 'addresses.json')
}
