import { isLedgerError } from '../../client/index.ts'

export interface FailureText {
  readonly summary: string
  readonly advice?: string
  /** For the operator. */
  readonly requestId?: string
}

const ADVICE: Readonly<Record<number, string>> = {
  0: 'Check that the ledger runs, and that this machine reaches it.',
  401: 'Sign in again.',
  403: 'The role or the scope of this client does not permit it.',
  404: 'It does not exist, or it is outside the scope of this client.',
  429: 'This client or account has reached its rate limit. Try again in a moment.',
  503: 'The ledger is busy, or a part of it is restarting. Try again in a moment.',
}

const UNKNOWN_OUTCOME = 'It may have been accepted. Check whether it was before you make a new request.'

/** An error in words, with the next step. */
export function failureText(error: unknown): FailureText {
  if (!isLedgerError(error)) {
    return { summary: error instanceof Error ? error.message : 'The reason is unknown.' }
  }
  const fields = (error.problem?.errors ?? []).map(({ field, message }) => `${field}: ${message}`)
  const detail = error.problem?.detail ?? error.message
  const advice = error.outcome === 'unknown' ? UNKNOWN_OUTCOME : ADVICE[error.status]
  return {
    summary: [detail, ...fields.filter((text) => !detail.includes(text))].join(' '),
    ...(advice === undefined ? {} : { advice }),
    ...(error.requestId === undefined ? {} : { requestId: error.requestId }),
  }
}
