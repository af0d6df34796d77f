/**
 * Describes an error for the log: messages and stack, but no fields, because a driver's error may hold rows there. Messages
 * of PostgreSQL, JavaScript and the decimal library may quote values, so their errors show name, code and frames only.
 */
import postgres from 'postgres'
import { OtherProperties } from '../ledger/ledger-found.ts'
import { WitnessesUnusable } from '../log/witness-policy.ts'

/** Bounds the chain of causes, which may be circular. */
const MAX_CAUSES = 5

export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A fault of the configuration, not of the program: the stack would only hide the message.
  if (error instanceof OtherProperties || error instanceof WitnessesUnusable) return error.message
  const causes: string[] = []
  for (let cause = error.cause; cause instanceof Error && causes.length < MAX_CAUSES; cause = cause.cause) {
    causes.push(` because ${headOf(cause)}`)
  }
  return `${stackOf(error)}${causes.join('')}`
}

function headOf(error: Error): string {
  if (error instanceof postgres.PostgresError) return `${error.name} ${error.code}`
  return quotesValues(error) ? error.name : error.message
}

/** JavaScript's errors quote invalid JSON and invalid numbers. */
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

/** Removes the whole message first, because one of its lines may look like a frame. */
function framesOf(stack: string, message: string): readonly string[] {
  const start = stack.indexOf(message)
  if (start < 0) return []
  return stack
    .slice(start + message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
}
