/**
 * `npm run sim`: runs seeds in several threads, says what happened, and tells the story of what fails. `SIM_SEED=<seed>`
 * replays that one. Exit code 1: a run failed, or something demanded was never seen; 2: the arguments make no sense.
 */
import { availableParallelism } from 'node:os'
import { FAULT_KINDS } from './faults.ts'
import { planOf } from './plan.ts'
import { type ManySeeds, type OneRun, readArguments, USAGE } from './runner-arguments.ts'
import { attempt } from './runner-attempt.ts'
import { BREAKABLE } from './runner-broken.ts'
import { shortest, storyOf } from './runner-failure.ts'
import { runPool } from './runner-pool.ts'
import { createProgress, type Progress } from './runner-progress.ts'
import { type Failed, hasFailed, summaryText, Sums } from './runner-summary.ts'

/** Of as many ways to fail a story is told. */
const TOLD_FAILURES = 2

async function main(): Promise<number> {
  const known = { faultKinds: FAULT_KINDS, breakable: BREAKABLE, processors: availableParallelism() }
  const asked = readArguments(process.argv.slice(2), process.env, known)
  switch (asked.kind) {
    case 'wrong':
      process.stderr.write(`${asked.why}\n\n${USAGE}\n`)
      return 2
    case 'replay':
      return replay(asked)
    case 'hashes':
      return hashes(asked)
    case 'seeds':
      return seeds(asked)
  }
}

async function seeds(asked: ManySeeds): Promise<number> {
  const notes = asked.json ? process.stderr : process.stdout
  const progress = createProgress(notes, () => performance.now())
  const sums = new Sums()
  const startedMs = performance.now()
  await runPool({
    workers: asked.workers,
    data: { broken: asked.broken },
    next: seedsOf(asked),
    onResult: (result) => {
      sums.add(result)
      progress.seen(sums)
    },
  })
  progress.end()
  const summary = sums.summary(asked.from, performance.now() - startedMs)
  await tellFailures(asked, summary.failures, progress, notes)
  process.stdout.write(asked.json ? `${JSON.stringify(summary)}\n` : `${summaryText(summary).join('\n')}\n`)
  return hasFailed(summary) ? 1 : 0
}

/** One seed for each of the first ways to fail, in its shortest form. */
async function tellFailures(
  { broken, full }: ManySeeds,
  failures: readonly Failed[],
  progress: Progress,
  output: NodeJS.WriteStream,
): Promise<void> {
  const byName = new Map<string, Failed>()
  for (const failed of failures) {
    const name = failed.names[0] ?? ''
    if (failed.steps < (byName.get(name)?.steps ?? Infinity)) byName.set(name, failed)
  }
  for (const { seed } of [...byName.values()].slice(0, TOLD_FAILURES)) {
    const { text } = await shortestStory({ kind: 'replay', plan: planOf(seed), full, shrink: true, broken }, progress)
    output.write(`${text.join('\n')}\n\n`)
  }
}

async function replay(asked: OneRun): Promise<number> {
  const progress = createProgress(process.stderr, () => performance.now())
  const { text, violations } = asked.shrink
    ? await shortestStory(asked, progress)
    : await storyOf(asked.plan, asked.broken, asked.full)
  process.stdout.write(`${text.join('\n')}\n`)
  return violations.length > 0 ? 1 : 0
}

async function shortestStory({ plan, broken, full }: OneRun, progress: Progress): ReturnType<typeof storyOf> {
  const failure = await attempt(plan, broken)
  if (failure.violations.length === 0) return storyOf(plan, broken, full)
  const found = await shortest({ plan, failure, broken }, progress.note)
  progress.end()
  const story = await storyOf(found.plan, broken, full)
  const how = `seed ${plan.seed} failed after ${failure.end.steps} steps; the shortest like it of ${found.runs} runs:`
  return { ...story, text: [how, ...story.text] }
}

async function hashes(asked: ManySeeds): Promise<number> {
  const found = new Map<number, string>()
  const sums = new Sums()
  await runPool({
    workers: asked.workers,
    data: { broken: asked.broken },
    next: seedsOf(asked),
    onResult: (result) => {
      sums.add(result)
      found.set(result.seed, result.end.hash)
    },
  })
  const lines = [...found].toSorted(([left], [right]) => left - right).map(([seed, hash]) => `${seed} ${hash}\n`)
  process.stdout.write(lines.join(''))
  return sums.failures.length > 0 ? 1 : 0
}

/** Gives seed after seed, until there are no more or the time is up. */
function seedsOf({ from, count, minutes }: ManySeeds): () => number | undefined {
  let untilMs: number | undefined
  let given = 0
  return () => {
    // The time begins with the first seed, not with the threads.
    untilMs ??= minutes === null ? Infinity : performance.now() + minutes * 60_000
    if (given >= count || performance.now() >= untilMs) return undefined
    given += 1
    return from + given - 1
  }
}

process.exitCode = await main()
