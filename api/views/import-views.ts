/** Imports as the interface shows them, and why one is refused. */
import type {
  ImportFault,
  ImportFaultCode,
  ImportOutcome,
  ImportRefusal,
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
  const common = { import_id: importId }
  switch (outcome.kind) {
    case 'staged':
      return jsonReply(202, { ...common, status: 'staging', next_part: outcome.nextPart, lines: outcome.lines })
    case 'under_way':
      return jsonReply(202, { ...common, status: outcome.phase, done: outcome.done, total: outcome.total })
    case 'done':
      return jsonReply(200, { ...common, status: 'done', summary: summaryMembers(outcome.summary) })
    case 'conflict':
      return conflict(outcome.field, outcome.detail)
    case 'invalid':
    case 'untrusted':
    case 'mismatch':
    case 'exists':
      return refusalProblem(outcome)
  }
}

/** The progress of an import, for GET. */
export function importMembers(importId: string, status: ImportStatus): object {
  const { phase, nextPart, lines } = status
  const common = { import_id: importId, status: phase, next_part: nextPart, lines }
  switch (phase) {
    case 'staging':
      return common
    case 'done':
      return { ...common, summary: summaryMembers(status.summary) }
    case 'refused': {
      const { detail, codes, errors } = refusalProblem(status.refusal)
      return { ...common, refusal: { detail, error_codes: codes, errors: errors ?? [] } }
    }
    case 'checking':
    case 'applying':
    case 'taking':
    case 'refusing':
      return { ...common, done: status.done, total: status.total }
  }
}

function summaryMembers({ accounts, tokens, nftClasses, nftInstances, attestations, present }: ImportSummary): object {
  return { accounts, tokens, nft_classes: nftClasses, nft_instances: nftInstances, attestations, present }
}

function refusalProblem(refusal: ImportRefusal): Problem {
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
      return conflict(refusal.field, refusal.detail)
  }
}

function conflict(field: string, detail: string): Problem {
  return problem('conflict', 'ERR_CONFLICT', detail, [{ field, message: detail }])
}
