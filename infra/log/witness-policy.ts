/** The policy of LEDGER_WITNESSES: a file of C2SP (tlog-policy) with the witnesses that are asked, and how many must sign. */
import { readFile } from 'node:fs/promises'
import { MOST_SIGNATURES } from '../../api/client/log/signed-note.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { meetsQuorum, parsePolicy, PolicyMalformed, type TrustPolicy } from '../../api/client/log/trust-policy.ts'

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
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const why = isAbsent ? 'there is no such file' : error instanceof Error ? error.message : String(error)
    throw new WitnessesUnusable(`LEDGER_WITNESSES: ${file} cannot be read: ${why}.`, { cause: error })
  }
  try {
    const policy = await parsePolicy(text)
    const problem = problemOf(policy)
    if (problem !== undefined) throw new PolicyMalformed(problem)
    return policy
  } catch (error) {
    if (!(error instanceof PolicyMalformed)) throw error
    throw new WitnessesUnusable(`LEDGER_WITNESSES: ${file}: ${error.message}.`, { cause: error })
  }
}

/** Says at the start of an edge whose signatures its heads will have. Undefined: without LEDGER_WITNESSES. */
export function reportWitnesses(log: Pick<Log, 'info'>, policy: TrustPolicy | undefined): void {
  if (policy === undefined) {
    log.info('log_opened', { witnesses: 0, must_sign: 0, note: 'the ledger signs alone: LEDGER_WITNESSES is not set' })
  } else log.info('log_opened', { witnesses: policy.witnesses.size, must_sign: fewestOf(policy, policy.quorum) })
}

/** The smallest number of witnesses that meets this quorum. */
function fewestOf(policy: TrustPolicy, quorum: string): number {
  const group = policy.groups.get(quorum)
  if (group === undefined) return policy.witnesses.has(quorum) ? 1 : 0
  const each = group.members.map((member) => fewestOf(policy, member)).sort((left, right) => left - right)
  return each.slice(0, group.threshold).reduce((sum, count) => sum + count, 0)
}

/** A policy with which no head could be published. */
function problemOf(policy: TrustPolicy): string | undefined {
  const asked = [...policy.witnesses].filter(([, { url }]) => url !== undefined)
  const [unusable] = asked.find(([, { url }]) => !isHttp(url ?? '')) ?? []
  if (unusable !== undefined) return `the URL of the witness ${unusable} does not begin with https:// or http://`
  // A head has the signature of the log as well.
  if (asked.length >= MOST_SIGNATURES) return `more than ${MOST_SIGNATURES - 1} witnesses have a URL`
  const canMeet = meetsQuorum(policy, new Set(asked.map(([name]) => name)))
  return canMeet ? undefined : 'the witnesses with a URL cannot meet the quorum'
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}
