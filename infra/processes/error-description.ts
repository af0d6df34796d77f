/**
 * An error as the log may have it: messages and stack, no fields, because a driver's error may hold rows there. What
 * PostgreSQL, the language and the library of decimals say quotes the value that they could not take, so of their errors
 * name, code and frames alone are told.
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
  if (error instanceof postgres.PostgresError) return `${error.name} ${error.code}`
  return quotesValues(error) ? error.name : error.message
}

/** Of an ill-formed JSON text the language quotes the beginning, of what is no number the whole. */
function quotesValues(error: Error): boolean {
  if (error instanceof postgres.PostgresError) return true
  if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) return true
  if (error instanceof DOMException) return true
  return error.message.startsWith('[DecimalError]')
}

function stackOf(error: Error): string {
  const { stack } = error
  if (!quotesValues(error)) return stack ?? error.message
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
