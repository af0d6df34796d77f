/** `npm run test:privacy`: prints how far an analyst gets with a stolen copy of the database, for two populations. */
import { startCluster } from '../support/processes/cluster-process.ts'
import { attackAll } from './attacks.ts'
import { readDump } from './dump.ts'
import { type Figure, isAtChance } from './judge.ts'
import { LARGE, live, planOf, type PopulationShape, SMALL } from './population.ts'

const SEED = 1

async function figuresOf(shape: PopulationShape): Promise<readonly Figure[]> {
  const cluster = await startCluster()
  try {
    const truth = await live(cluster, planOf(shape, SEED))
    return attackAll(await readDump(cluster.databaseUrl()), truth, SEED)
  } finally {
    await cluster.stop()
  }
}

function cellOf(figure: Figure): string {
  const { value, by } = figure
  return `${value.toFixed(3)}${by === undefined || isAtChance(figure) ? '' : ` (${by})`}`
}

function chanceOf({ chance, deviation }: Figure): string {
  return `${chance.toFixed(3)} ± ${deviation.toFixed(3)}`
}

const small = await figuresOf(SMALL)
const large = await figuresOf(LARGE)
const lines = small.map((figure, index) => {
  const other = large[index] ?? figure
  return `| ${figure.attack} | ${cellOf(figure)} | ${cellOf(other)} | ${chanceOf(figure)}; ${chanceOf(other)} |\n`
})
process.stdout.write(
  `| attack | ${SMALL.accounts} accounts | ${LARGE.accounts} accounts | chance |\n|---|---|---|---|\n${lines.join('')}`,
)
