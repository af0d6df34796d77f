/**
 * An error as the log may have it: messages and stack, no fields, because a driver's error may hold rows there. What
 * PostgreSQL says quotes the value that it could not take, so of its errors name, code and frames alone are told.
 */
import postgres from 'postgres'

/** Causes beyond are left out; a chain may even be a circle. */
const DEEPEST = 5

export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const causes: string[] = []
  for (let cause = error.cause; cause instanceof Error && causes.length < DEEPEST; cause = cause.cause) {
    causes.push(` because ${headOf(cause)}`)
  }
  return `${stackOf(error)}${causes.join('')}`
}

function headOf(error: Error): string {
  return error instanceof postgres.PostgresError ? `${error.name} ${error.code}` : error.message
}

function stackOf(error: Error): string {
  const { stack } = error
  if (!(error instanceof postgres.PostgresError)) return stack ?? error.message
  return [headOf(error), ...framesOf(stack ?? '', error.message)].join('\n')
}

/** A message of many lines may look like frames: it is taken away whole, and without it there are none. */
function framesOf(stack: string, message: string): readonly string[] {
  const start = stack.indexOf(message)
  if (start < 0) return []
  return stack
    .slice(start + message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
}
