/** Reads the ledgers whose exports this ledger imports, from the variable or its file. */
import { readFile } from 'node:fs/promises'
import type { Configuration } from '../config/configuration.ts'
import { NO_LEDGERS, readTrustedLedgers, type TrustedLedgers } from '../config/trusted-ledgers.ts'

export class TrustedLedgersUnusable extends Error {
  override readonly name = 'TrustedLedgersUnusable'
}

/** Throws TrustedLedgersUnusable if the file cannot be read or is malformed. */
export async function openTrustedLedgers({
  trustedLedgers,
  trustedLedgersFile,
}: Configuration): Promise<TrustedLedgers> {
  if (trustedLedgersFile === undefined) return trustedLedgers ?? NO_LEDGERS
  let text: string
  try {
    text = await readFile(trustedLedgersFile, 'utf8')
  } catch (cause) {
    const why =
      cause instanceof Error && 'code' in cause && cause.code === 'ENOENT' ? 'there is no such file' : messageOf(cause)
    throw new TrustedLedgersUnusable(`LEDGER_TRUSTED_LEDGERS_FILE: ${trustedLedgersFile} cannot be read: ${why}.`, {
      cause,
    })
  }
  const read = readTrustedLedgers(text)
  if (read.ok) return read.value
  throw new TrustedLedgersUnusable(`LEDGER_TRUSTED_LEDGERS_FILE: ${trustedLedgersFile} must be ${read.error}.`)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
