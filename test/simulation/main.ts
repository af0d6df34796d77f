/** `npm run sim -- --seeds N --from S`: runs seeds one after another and says what it found. `SIM_SEED=<seed>` runs that one, with its whole trace. */
import { parseArgs } from 'node:util'
import { type ClusterRun, runCluster } from './cluster.ts'
import { planOf } from './plan.ts'

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '100' }, from: { type: 'string', default: '1' } },
})
const single = process.env['SIM_SEED']
const from = Number(single ?? values.from)
const seeds = single === undefined ? Number(values.seeds) : 1
const write = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const failures: string[] = []
const sums = new Map<string, number>()
const startedMs = performance.now()
for (let seed = from; seed < from + seeds; seed += 1) {
  try {
    add(await runCluster({ plan: planOf(seed), keepTrace: single !== undefined }))
  } catch (error) {
    failures.push(`${seed}`)
    write(error instanceof Error ? error.message : String(error))
  }
}
for (const [name, sum] of [...sums].sort(([left], [right]) => (left < right ? -1 : 1))) write(`${name} ${sum}`)
write(`${seeds} seeds, ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
if (failures.length > 0) {
  write(`failed: ${failures.join(' ')}`)
  process.exitCode = 1
}

function add({ counters, steps }: ClusterRun): void {
  for (const [name, count] of [...counters, ['steps', steps] as const]) sums.set(name, (sums.get(name) ?? 0) + count)
}
