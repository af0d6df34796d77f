/** How a soak went, for people. */
import { grid, milliseconds, number } from './report-table.ts'
import type { SoakReport, SoakSample } from './soak.ts'
import type { ProcessVerdict } from './soak-verdict.ts'

const MIB = 1_048_576
const MS_A_MINUTE = 60_000
/** Of the samples: all are in the JSON. */
const SHOWN = 20

export function renderSoak({
  minutes,
  accounts,
  offeredPerSecond,
  actorsPerShard,
  samples,
  verdict,
}: SoakReport): string {
  const names = samples[0]?.processes.map(({ name }) => name) ?? []
  const step = Math.max(1, Math.ceil(samples.length / SHOWN))
  const shown = samples.filter((_sample, index) => index % step === 0 || index === samples.length - 1)
  return [
    '',
    `SOAK: ${number(offeredPerSecond)} submissions a second at a constant rate, to any of ${number(accounts)} accounts, for ${minutes} minutes;`,
    `nodes keep ${number(actorsPerShard)} actors of each shard`,
    '',
    ...grid(
      [
        'min',
        'applied/s',
        'p50 / p99 / max ms',
        ...names.flatMap((name) => [`${name}: MiB`, 'heap', 'loop p99 ms']),
        'actors',
        'connections',
      ],
      shown.map(cellsOf),
    ),
    '',
    ...grid(
      ['', 'second quarter, MiB', 'last quarter, MiB', 'actors at most', 'allowed', ''],
      verdict.processes.map(verdictCells),
    ),
    '',
    verdict.passed ? 'PASSED: memory stayed within its bound and does not grow.' : 'FAILED',
    '',
  ].join('\n')
}

function cellsOf(sample: SoakSample): readonly string[] {
  const { processes } = sample
  const actors = processes.reduce((sum, process) => sum + (process.actors?.inMemory ?? 0), 0)
  return [
    (sample.atMs / MS_A_MINUTE).toFixed(2),
    number(sample.appliedPerSecond),
    [sample.p50Ms, sample.p99Ms, sample.maxMs].map(milliseconds).join(' / '),
    ...processes.flatMap(({ residentBytes, heapBytes, eventLoopDelayP99Ms }) => [
      number(residentBytes / MIB),
      number(heapBytes / MIB),
      milliseconds(eventLoopDelayP99Ms),
    ]),
    number(actors),
    number(sample.databaseConnections),
  ]
}

function verdictCells({
  name,
  secondQuarterBytes,
  lastQuarterBytes,
  grows,
  actors,
}: ProcessVerdict): readonly string[] {
  const faults = [...(grows ? ['GROWS'] : []), ...(actors?.exceeded === true ? ['KEEPS MORE ACTORS THAN IT MAY'] : [])]
  return [
    name,
    number(secondQuarterBytes / MIB),
    number(lastQuarterBytes / MIB),
    actors === null ? '' : number(actors.most),
    actors === null ? '' : number(actors.bound),
    faults.join(', '),
  ]
}
