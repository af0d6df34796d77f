/**
 * `npm run sim`: runs seeds in several threads, prints a summary, and prints the story of failures. `SIM_SEED=<seed>`
 * replays one seed. Exit code 1: a run failed, or a demanded event was never seen; 2: invalid arguments.
 */
import { type Plan, planOf } from './plan.ts'
import { type RunArguments, readArguments, USAGE } from './runner/runner-arguments.ts'
import { attempt, shortest, storyOf } from './runner/runner-attempt.ts'
import { runPool } from './runner/runner-pool.ts'
import { type Failed, hasFailed, summaryText, Sums } from './runner/runner-summary.ts'

/** The number of ways to fail whose story is printed. */
const SHOWN_FAILURES = 2
const PROGRESS_MS = 10_000

async function main(): Promise<number> {
  let asked: RunArguments
  try {
    asked = readArguments(process.argv.slice(2), process.env)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`)
    return 2
  }
  if (asked.plan === null) return await seeds(asked)
  const { plan, broken, full, shrink } = asked
  const { text, violations } = await (shrink ? shortestStory(plan, asked) : storyOf(plan, broken, full))
  process.stdout.write(`${text.join('\n')}\n`)
  return violations.length > 0 ? 1 : 0
}

async function seeds(asked: RunArguments): Promise<number> {
  const { from, count, broken, workers, json, hash } = asked
  const sums = new Sums()
  const hashes = new Map<number, string>()
  const startedMs = performance.now()
  let notedMs = startedMs
  let given = 0
  await runPool({
    workers,
    data: { broken },
    next: () => {
      if (given >= count || performance.now() >= startedMs + asked.minutes * 60_000) return undefined
      given += 1
      return from + given - 1
    },
    onResult: (result) => {
      sums.add(result)
      hashes.set(result.seed, result.end.hash)
      if (performance.now() < notedMs + PROGRESS_MS) return
      notedMs = performance.now()
      process.stderr.write(`${sums.seeds} seeds, ${sums.failures.length} failed\n`)
    },
  })
  const summary = sums.summary(from, performance.now() - startedMs)
  if (hash) {
    const lines = [...hashes].toSorted(([left], [right]) => left - right).map(([seed, text]) => `${seed} ${text}\n`)
    process.stdout.write(lines.join(''))
    return summary.failures.length > 0 ? 1 : 0
  }
  await printFailures(asked, summary.failures)
  process.stdout.write(json ? `${JSON.stringify(summary)}\n` : `${summaryText(summary).join('\n')}\n`)
  return hasFailed(summary) ? 1 : 0
}

/** Prints one seed for each of the first ways to fail, in its shortest form. */
async function printFailures(asked: RunArguments, failures: readonly Failed[]): Promise<void> {
  const byName = new Map<string, Failed>()
  for (const failed of failures) {
    const name = failed.names[0] ?? ''
    if (failed.steps < (byName.get(name)?.steps ?? Infinity)) byName.set(name, failed)
  }
  for (const { seed } of [...byName.values()].slice(0, SHOWN_FAILURES)) {
    const { text } = await shortestStory(planOf(seed), asked)
    const output = asked.json ? process.stderr : process.stdout
    output.write(`${text.join('\n')}\n\n`)
  }
}

async function shortestStory(plan: Plan, { broken, full }: RunArguments): ReturnType<typeof storyOf> {
  const failure = await attempt(plan, broken)
  if (failure.violations.length === 0) return storyOf(plan, broken, full)
  const found = await shortest(plan, failure, broken)
  const story = await storyOf(found.plan, broken, full)
  const how = `seed ${plan.seed} failed after ${failure.end.steps} steps; the shortest like it of ${found.runs} runs:`
  return { ...story, text: [how, ...story.text] }
}

process.exitCode = await main()
