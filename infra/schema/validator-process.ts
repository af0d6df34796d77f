/**
 * A process that answers questions about schemas, one after another. It has no environment, no files and no network of the
 * ledger's: it is what a hostile schema may stop, fill or break.
 */
import { createJudge } from './judge.ts'
import { type Answered, type Asked, type Question, READY } from './question.ts'

// Ctrl-C reaches the whole group: this ends with the process that asks, and not before.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.once('disconnect', () => process.exit(0))

const judge = createJudge()

function verdictOn(question: Question): unknown {
  try {
    return question.kind === 'check' ? judge.check(question.schema) : judge.validate(question.schema, question.value)
  } catch {
    return null
  }
}

process.on('message', ({ id, question }: Asked) => {
  process.send?.({ id, verdict: verdictOn(question) } satisfies Answered)
})
process.send?.(READY)
