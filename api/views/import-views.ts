/** Imports and their refusals as the interface shows them. */
import type {
  ImportFault,
  ImportFaultCode,
  ImportOutcome,
  ImportStatus,
  ImportSummary,
} from '../../runtime/ports/ledger-imports.ts'
import { type ErrorCode, type Invalid, invalidProblem, type Problem, problem } from '../http/problem.ts'
import { jsonReply, type Reply } from '../http/reply.ts'

const FAULT_CODES = {
  field: 'ERR_INVALID_FIELD',
  balance: 'ERR_INVALID_BALANCE',
  wrong_ledger: 'ERR_WRONG_LEDGER',
  total_supply: 'ERR_INVALID_TOTAL_SUPPLY',
  proof_hash: 'ERR_INVALID_PROOF_HASH',
  signature: 'ERR_INVALID_SIGNATURE',
  class_id: 'ERR_INVALID_CLASS_ID',
  issuer: 'ERR_INVALID_ISSUER',
  account_id: 'ERR_INVALID_ACCOUNT_ID',
  symbol: 'ERR_INVALID_SYMBOL',
  token_id: 'ERR_INVALID_TOKEN_ID',
} as const satisfies Record<ImportFaultCode, ErrorCode>

export function invalidOfFault({ code, field, message }: ImportFault): Invalid {
  return { code: FAULT_CODES[code], field, message }
}

/** The response to a part. */
export function importAnswer(importId: string, outcome: ImportOutcome): Reply | Problem {
  if (!('phase' in outcome)) return refusalProblem(outcome)
  const members = importMembers(importId, outcome, outcome.phase === 'staging')
  return jsonReply(outcome.phase === 'done' ? 200 : 202, members)
}

/** The progress of an import. */
export function importMembers(importId: string, status: ImportStatus, withLines = true): object {
  const { phase, nextPart, lines, done, total, summary, refusal } = status
  const common = { import_id: importId, status: phase, ...(withLines ? { next_part: nextPart, lines } : {}) }
  if (phase === 'staging') return common
  if (summary !== null) return { ...common, summary: summaryMembers(summary) }
  if (refusal === null) return { ...common, done, total }
  const { detail, codes, errors } = refusalProblem(refusal)
  return { ...common, refusal: { detail, error_codes: codes, errors: errors ?? [] } }
}

function summaryMembers({ accounts, tokens, nftClasses, nftInstances, attestations, present }: ImportSummary): object {
  return { accounts, tokens, nft_classes: nftClasses, nft_instances: nftInstances, attestations, present }
}

function refusalProblem(refusal: Exclude<ImportOutcome, ImportStatus>): Problem {
  switch (refusal.kind) {
    case 'invalid':
      return invalidProblem('validation-error', refusal.faults.map(invalidOfFault))
    case 'untrusted': {
      const { field, detail } = refusal
      return problem('forbidden', 'ERR_FORBIDDEN', detail, [{ field, message: detail }])
    }
    case 'mismatch': {
      const { field, detail, signed } = refusal
      return { ...problem('forbidden', 'ERR_SIGNATURE_MISMATCH', detail, [{ field, message: detail }]), signed }
    }
    case 'exists':
    case 'conflict': {
      const { field, detail } = refusal
      return problem('conflict', 'ERR_CONFLICT', detail, [{ field, message: detail }])
    }
  }
}
