/** What `npm run sim` is asked to do, from its arguments and SIM_SEED, SIM_PLAN; a sentence where they make no sense. */
import { parseArgs } from 'node:util'
import { type Plan, planOf, readPlan } from './plan.ts'

export interface Known {
  readonly faultKinds: readonly string[]
  /** Names of rules that can be switched off. */
  readonly breakable: readonly string[]
  readonly processors: number
}

export interface ManySeeds {
  readonly kind: 'seeds' | 'hashes'
  readonly from: number
  /** Infinity: until the time is up. */
  readonly count: number
  /** null: until the seeds are done. */
  readonly minutes: number | null
  readonly workers: number
  readonly json: boolean
  readonly full: boolean
  readonly broken: string | null
}

export interface OneRun {
  readonly kind: 'replay'
  readonly plan: Plan
  readonly full: boolean
  /** Look for a shorter run, if it fails. */
  readonly shrink: boolean
  readonly broken: string | null
}

export interface Wrong {
  readonly kind: 'wrong'
  readonly why: string
}

export const USAGE = `npm run sim -- [--seeds N] [--from S] [--minutes M] [--workers W] [--json] [--full] [--break RULE]
npm run sim -- --hash [--seeds N] [--from S]      only "<seed> <hash>" for each
SIM_SEED=n [SIM_PLAN='{…}'] npm run sim -- [--full] [--shrink] [--break RULE]      one run, and its story`

const DEFAULT_SEEDS = 100
const LARGEST_SEED = 0xffff_ffff

const OPTIONS = {
  seeds: { type: 'string' },
  from: { type: 'string' },
  minutes: { type: 'string' },
  workers: { type: 'string' },
  json: { type: 'boolean', default: false },
  hash: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
  shrink: { type: 'boolean', default: false },
  break: { type: 'string' },
} as const

export function readArguments(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  known: Known,
): ManySeeds | OneRun | Wrong {
  const read = parsed(args)
  if (typeof read === 'string') return wrong(read)
  const { values } = read
  const broken = values.break ?? null
  if (broken !== null && !known.breakable.includes(broken)) {
    return wrong(`--break ${broken}: the rules that can be switched off are ${known.breakable.join(', ')}`)
  }
  const { SIM_SEED: single, SIM_PLAN: change } = environment
  if (single !== undefined) return oneRun(single, change, { full: values.full, shrink: values.shrink, broken }, known)
  if (change !== undefined) return wrong('SIM_PLAN needs SIM_SEED')
  if (values.shrink) return wrong('--shrink needs SIM_SEED; of many seeds those that fail are shrunk anyway')
  const from = whole(values.from ?? '1', 0, LARGEST_SEED)
  const seeds = whole(values.seeds ?? `${DEFAULT_SEEDS}`, 1, LARGEST_SEED)
  const workers = whole(values.workers ?? `${known.processors}`, 1, 256)
  const minutes = values.minutes === undefined ? null : Number(values.minutes)
  if (from === undefined) return wrong(`--from ${values.from}: a whole number from 0 on`)
  if (seeds === undefined) return wrong(`--seeds ${values.seeds}: a whole number from 1 on`)
  if (workers === undefined) return wrong(`--workers ${values.workers}: a whole number from 1 to 256`)
  if (minutes !== null && !(minutes > 0 && values.minutes?.trim() !== '')) {
    return wrong(`--minutes ${values.minutes}: a number above 0`)
  }
  const count = minutes !== null && values.seeds === undefined ? Infinity : seeds
  const { json, full, hash } = values
  return { kind: hash ? 'hashes' : 'seeds', from, count, minutes, workers, json, full, broken }
}

function oneRun(
  single: string,
  change: string | undefined,
  options: Pick<OneRun, 'full' | 'shrink' | 'broken'>,
  { faultKinds }: Known,
): OneRun | Wrong {
  const seed = whole(single, 0, LARGEST_SEED)
  if (seed === undefined) return wrong(`SIM_SEED=${single}: a whole number from 0 on`)
  const plan = change === undefined ? planOf(seed) : readPlan(seed, change, faultKinds)
  return typeof plan === 'string' ? wrong(plan) : { kind: 'replay', plan, ...options }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** undefined: it is no whole number in those bounds. */
function whole(text: string, least: number, most: number): number | undefined {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : NaN
  return number >= least && number <= most ? number : undefined
}

function wrong(why: string): Wrong {
  return { kind: 'wrong', why }
}
