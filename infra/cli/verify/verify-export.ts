/** Verifies a file of `ledger export` and summarizes its content. */
import { openSync, closeSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import { checkExport, type ExportVerdict, type ExportSummary } from '../../portability/export-check.ts'
import { LinesBroken, linesOf } from '../../portability/export-file.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import type { TrustPolicy } from '../../../api/client/log/trust-policy.ts'
import type { CommandIo } from '../common/command.ts'
import { jsonObjectOf, unreadable } from '../common/given-file.ts'
import { ExportLogCheck } from './check-export-log.ts'
import { type ReceiptKeys, unsuitableJwks } from './jwks.ts'
import type { VerdictIo } from './verdicts.ts'

const HEAD_BYTES = 8_192
/** Members of an export's line in canonical order. No response of the API has them. */
const LINE = /^\{.*"previous_hash":"sha256:.*"record":"/

/** Whether the file begins like an export. Standard input (`-`) is never taken for one. */
export function isExport(name: string, io: CommandIo): boolean {
  if (name === '-') return false
  try {
    const file = openSync(resolve(io.cwd, name), 'r')
    try {
      const head = Buffer.alloc(HEAD_BYTES)
      const [line = ''] = head.toString('utf8', 0, readSync(file, head, 0, HEAD_BYTES, 0)).split('\n', 1)
      return LINE.test(line)
    } finally {
      closeSync(file)
    }
  } catch {
    // The next reader of the file reports the error.
    return false
  }
}

/** `unchecked`: the JWKS cannot verify the signature. */
export type CheckedFile =
  | { readonly ok: true; readonly summary: ExportSummary }
  | { readonly ok: false; readonly unchecked: boolean; readonly problem: string }

/**
 * Prints the result. Returns whether the file verifies. Throws CommandFailed if it cannot be read. `policy`: also verifies
 * the place of the export in the log.
 */
export async function verifyExport(
  name: string,
  keys: ReceiptKeys,
  policy: TrustPolicy | undefined,
  io: VerdictIo,
): Promise<boolean> {
  const log = policy && new ExportLogCheck(policy)
  const checked = await checkExportFile(resolve(io.cwd, name), name, keys, log)
  if (checked.ok) io.verdict({ verdict: 'ok', detail: summaryText(checked.summary) })
  else io.verdict({ verdict: checked.unchecked ? 'NOT CHECKED' : 'TAMPERED', detail: `${name}: ${checked.problem}` })
  if (!checked.ok || log === undefined) return checked.ok
  const { verdict, detail } = log.verdict()
  io.verdict({ verdict, detail: `${name}: ${detail}` })
  return verdict === 'ok'
}

/** Throws CommandFailed if the file cannot be read. `name`: for messages. `log`: takes each line. */
export async function checkExportFile(
  path: string,
  name: string,
  keys: ReceiptKeys,
  log?: ExportLogCheck,
): Promise<CheckedFile> {
  let checked: ExportVerdict
  let last = ''
  async function* remembered(): AsyncGenerator<string, void, undefined> {
    for await (const line of linesOf(path)) {
      last = line
      await log?.take(line)
      yield line
    }
  }
  try {
    checked = await checkExport(remembered(), keys)
  } catch (cause) {
    if (cause instanceof LinesBroken) return { ok: false, unchecked: false, problem: cause.message }
    throw unreadable(name, cause)
  }
  if (checked.ok) return checked
  // `last` is the line of the problem, which may be the one that names the ledger or the key.
  const unsuitable = unsuitableJwks(signedMembers(last), keys)
  if (unsuitable !== undefined) return { ok: false, unchecked: true, problem: unsuitable }
  return { ok: false, unchecked: false, problem: `line ${checked.problem.line}: ${checked.problem.problem}` }
}

/** Only the first line and the proof name the ledger or the key. */
function signedMembers(line: string): JsonObject {
  const record = jsonObjectOf(line) ?? {}
  return record['record'] === 'ledger' || record['record'] === 'proof' ? record : {}
}

export function summaryText({ ledger, proof, counts }: ExportSummary): string {
  const { ledger_id: ledgerId, audience, exported_at: exportedAt, mode, partial } = ledger
  const kinds = [
    `${counts.account} accounts`,
    `${counts.token} tokens`,
    `${counts.nft_class} NFT classes`,
    `${counts.nft_instance} NFTs`,
    `${counts.attestation} attestations`,
  ]
  const what = `${mode === 'move' ? 'move' : 'copy'} of ${partial ? 'some' : 'all'} accounts`
  return `export of ledger ${ledgerId} for ${audience}, ${what} at ${exportedAt}: ${kinds.join(', ')}; signed at ${proof.timestamp} for ${JSON.stringify(proof.requester)}`
}
