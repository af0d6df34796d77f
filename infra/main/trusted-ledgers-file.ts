/** The ledgers that imports are taken from, of a configuration: from the variable or from its file. */
import { readFile } from 'node:fs/promises'
import type { Configuration } from '../config/configuration.ts'
import { NO_LEDGERS, readTrustedLedgers, TRUSTED_LEDGERS_RULE, type TrustedLedgers } from '../config/trusted-ledgers.ts'

export class TrustedLedgersUnusable extends Error {
  override readonly name = 'TrustedLedgersUnusable'
}

/** Throws TrustedLedgersUnusable when the file cannot be read or is not what it must be. */
export async function openTrustedLedgers({
  trustedLedgers,
  trustedLedgersFile,
}: Configuration): Promise<TrustedLedgers> {
  if (trustedLedgersFile === undefined) return trustedLedgers ?? NO_LEDGERS
  let text: string
  try {
    text = await readFile(trustedLedgersFile, 'utf8')
  } catch (cause) {
    throw new TrustedLedgersUnusable('The file of LEDGER_TRUSTED_LEDGERS_FILE cannot be read.', { cause })
  }
  const ledgers = readTrustedLedgers(text)
  if (ledgers === undefined) {
    throw new TrustedLedgersUnusable(`LEDGER_TRUSTED_LEDGERS_FILE: the file must be ${TRUSTED_LEDGERS_RULE}.`)
  }
  return ledgers
}
