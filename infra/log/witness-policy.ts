/** The policy of LEDGER_WITNESSES: a file of C2SP (tlog-policy) with the witnesses that are asked, and how many must sign. */
import { readFile } from 'node:fs/promises'
import { parsePolicy, PolicyMalformed, type TrustPolicy } from '../../api/client/log/trust-policy.ts'

/** The file cannot be used; the message says why. */
export class WitnessesUnusable extends Error {
  override readonly name = 'WitnessesUnusable'
}

/** Throws WitnessesUnusable. */
export async function readWitnesses(file: string): Promise<TrustPolicy> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    throw new WitnessesUnusable(`LEDGER_WITNESSES: ${file} cannot be read.`, { cause: error })
  }
  try {
    return await parsePolicy(text)
  } catch (error) {
    if (!(error instanceof PolicyMalformed)) throw error
    throw new WitnessesUnusable(`LEDGER_WITNESSES: ${file}: ${error.message}.`, { cause: error })
  }
}
