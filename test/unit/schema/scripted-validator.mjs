/** Stands in for the process that answers questions about schemas: does what the schema of a question says. */
import { existsSync, writeFileSync } from 'node:fs'

process.once('disconnect', () => process.exit(0))

const answers = {
  valid: () => ({ kind: 'valid' }),
  /** Never ends, and uses a processor all the while. */
  loop: () => {
    for (;;);
  },
  /** Grows a table until V8 gives up: the step that does not fit ends a process, whatever limit a thread in it has. */
  grow: () => {
    const table = new Map()
    for (let index = 0; ; index += 1) table.set(`name ${index}`, [index])
  },
  exit: () => process.exit(3),
  /** Ends the first process that meets it, and no other. */
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
  /** Which process it is. */
  who: () => ({ kind: 'invalid', reason: String(process.pid) }),
}

process.on('message', ({ id, question }) => {
  const { act, ...rest } = JSON.parse(question.schema)
  if (act === 'silence') return
  process.send({ id, verdict: answers[act](rest) })
})
process.send('ready')
