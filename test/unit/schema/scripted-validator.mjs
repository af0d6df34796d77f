/** A fake worker process that does what the schema of a question commands. */
import { existsSync, writeFileSync } from 'node:fs'

process.once('disconnect', () => process.exit(0))

const answers = {
  valid: () => ({ kind: 'valid' }),
  /** Uses CPU time without end. */
  loop: () => {
    for (;;);
  },
  /** Grows a table until V8 ends the process. */
  grow: () => {
    const table = new Map()
    for (let index = 0; ; index += 1) table.set(`name ${index}`, [index])
  },
  exit: () => process.exit(3),
  /** Ends the first process only. */
  once: ({ mark }) => {
    if (existsSync(mark)) return { kind: 'valid' }
    writeFileSync(mark, '')
    return process.exit(3)
  },
  confused: () => null,
  lie: () => ({ kind: 'invalid', errors: [] }),
  environment: () => ({
    kind: 'invalid',
    reason: JSON.stringify(Object.keys(process.env).filter((name) => name.startsWith('LEDGER'))),
  }),
  pid: () => ({ kind: 'invalid', reason: String(process.pid) }),
}

process.on('message', ({ id, question }) => {
  const { act, ...rest } = JSON.parse(question.schema)
  if (act === 'silence') return
  process.send({ id, verdict: answers[act](rest) })
})
process.send('ready')
