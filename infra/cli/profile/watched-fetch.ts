/** `fetch` for commands that try again: notes which requests may have arrived, and prints once why one is sent again. */
import type { CommandIo } from '../common/command.ts'

const SERVER_ERROR = 500
/** Codes of errors of a connection that never came about. */
const NOT_SENT: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
])

export function watchedFetch(url: string, io: CommandIo) {
  let mayHaveArrived = false
  let isPrinted = false
  const print = (why: string): void => {
    if (!isPrinted) io.err(`${why}; trying again (Ctrl-C ends it)\n`)
    isPrinted = true
  }
  const watched: typeof fetch = async (input, init) => {
    const isToken = typeof input === 'string' && input.endsWith('/v1/auth/token')
    const isChange = (init?.method ?? 'GET') !== 'GET' && !isToken
    try {
      const response = await fetch(input, init)
      mayHaveArrived ||= isChange
      if (response.status >= SERVER_ERROR) print(`the ledger at ${url} is not ready (${response.status})`)
      return response
    } catch (cause) {
      const code = codeIn(cause)
      mayHaveArrived ||= isChange && !NOT_SENT.has(code)
      if (init?.signal?.aborted !== true) print(`the ledger at ${url} does not respond${reasonOf(code)}`)
      throw cause
    }
  }
  return { fetch: watched, mayHaveArrived: () => mayHaveArrived }
}

/** `fetch` keeps the reason in the cause of its error. */
function codeIn(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause ? cause.code : undefined
}

function reasonOf(code: unknown): string {
  if (code === 'ECONNREFUSED') return ' (the connection was refused)'
  return code === 'ENOTFOUND' || code === 'EAI_AGAIN' ? ' (the host name is unknown)' : ''
}
