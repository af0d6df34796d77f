/** Checks the place of an export in the log of its ledger: the head that it names, and the proofs of its accounts. */
import * as v from 'valibot'
import { trustedHead, type TrustedHead, type TrustPolicy } from '../../../api/client/log/trust-policy.ts'
import { judgeLogProof, logProofText } from '../../../api/client/log/log-proof.ts'
import { parseNote, type SignedNote, strictBase64 } from '../../../api/client/log/signed-note.ts'
import { jsonObjectOf } from '../common/given-file.ts'
import { VERDICT_WORDS } from './check-log-proofs.ts'
import type { VerdictLine } from './verdicts.ts'

/** Only the members that this reads: import checks the whole record. */
const ledgerSchema = v.object({ record: v.literal('ledger'), log_head: v.optional(v.string()) })
const accountSchema = v.object({
  record: v.literal('account'),
  account_id: v.string(),
  audit_hash: v.string(),
  log_proof: v.optional(v.object({ salt: v.string(), index: v.number(), hashes: v.array(v.string()) })),
})
const othersSchema = v.object({
  record: v.picklist(['token', 'nft_class', 'nft_instance', 'attestation', 'used_keys', 'proof']),
})
const lineSchema = v.variant('record', [ledgerSchema, accountSchema, othersSchema])

type LineVerdict = Pick<VerdictLine, 'verdict' | 'detail'>

/** Takes the lines of one export; keeps the first problem. */
export class ExportLogCheck {
  private readonly policy: TrustPolicy
  private note: SignedNote | undefined
  private head: TrustedHead | undefined
  private problem: LineVerdict | undefined
  private accounts = 0
  private proved = 0

  constructor(policy: TrustPolicy) {
    this.policy = policy
  }

  async take(line: string): Promise<void> {
    if (this.problem !== undefined) return
    const read = v.safeParse(lineSchema, jsonObjectOf(line))
    if (!read.success) this.problem = { verdict: 'TAMPERED', detail: 'its place in the log is malformed' }
    else if (read.output.record === 'ledger') this.problem = await this.takeHead(read.output)
    else if (read.output.record === 'account') this.problem = await this.takeAccount(read.output)
  }

  /** Call after the last line. */
  verdict(): LineVerdict {
    const { head, problem, accounts, proved } = this
    if (problem !== undefined) return problem
    if (head === undefined) return { verdict: 'INCOMPLETE', detail: 'it names no head of the log' }
    const by = ['the log', ...head.witnesses].join(', ')
    const detail = `the log ${head.origin} of ${head.size} entries, signed by ${by}, has the last entries of ${proved} of ${accounts} accounts`
    return { verdict: 'ok', detail }
  }

  private async takeHead({ log_head: text }: v.InferOutput<typeof ledgerSchema>): Promise<LineVerdict | undefined> {
    if (text === undefined) return undefined
    this.note = parseNote(text)
    if (this.note === undefined) return { verdict: 'TAMPERED', detail: 'its head of the log is malformed' }
    const head = await trustedHead(this.note, this.policy)
    if ('ok' in head) return { verdict: VERDICT_WORDS[head.reason], detail: head.problem }
    this.head = head
    return undefined
  }

  private async takeAccount({
    account_id: accountId,
    audit_hash: hash,
    log_proof: proof,
  }: v.InferOutput<typeof accountSchema>): Promise<LineVerdict | undefined> {
    this.accounts += 1
    if (proof === undefined || this.note === undefined) return undefined
    const [salt, ...hashes] = [proof.salt, ...proof.hashes].map((text) => strictBase64(text) ?? new Uint8Array())
    if (salt === undefined) return undefined
    const text = logProofText({ salt, index: proof.index, hashes, checkpoint: this.note })
    const judged = await judgeLogProof(text, [{ auditHash: hash }], this.policy)
    if (!judged.ok) return { verdict: VERDICT_WORDS[judged.reason], detail: `account ${accountId}: ${judged.problem}` }
    this.proved += 1
    return undefined
  }
}
