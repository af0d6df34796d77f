/**
 * The program of a worker process, which answers questions about schemas one at a time. It has no environment, files or
 * network access, because a hostile schema may stop, fill or break it.
 */
import { createJudge } from './judge.ts'
import { type Question, type QuestionMessage, READY, type VerdictMessage } from './question.ts'

// Ctrl-C signals the whole process group, but a worker ends only when its parent disconnects.
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

process.on('message', ({ id, question }: QuestionMessage) => {
  process.send?.({ id, verdict: verdictOn(question) } satisfies VerdictMessage)
})
process.send?.(READY)
