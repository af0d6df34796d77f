/** The arguments of `npm run sim`, from its command line and from SIM_SEED and SIM_PLAN. */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { MUTATIONS } from '../mutation-list.ts'
import { type Plan, planOf, readPlan } from '../plan.ts'

export interface RunArguments {
  readonly from: number
  /** Infinity: until the time is up. */
  readonly count: number
  /** Infinity: until the seeds are done. */
  readonly minutes: number
  readonly workers: number
  readonly json: boolean
  readonly hash: boolean
  readonly full: boolean
  /** Whether to look for a shorter run that fails. */
  readonly shrink: boolean
  readonly broken: string | null
  /** The run to replay; null: seeds in turn. */
  readonly plan: Plan | null
}

export const USAGE = `npm run sim -- [--seeds N] [--from S] [--minutes M] [--workers W] [--json] [--full] [--break RULE]
npm run sim -- --hash [--seeds N] [--from S]      only "<seed> <hash>" for each
SIM_SEED=n [SIM_PLAN='{…}'] npm run sim -- [--full] [--shrink] [--break RULE]      one run, and its story`

const LARGEST_SEED = 0xffff_ffff

const OPTIONS = {
  seeds: { type: 'string' },
  from: { type: 'string', default: '1' },
  minutes: { type: 'string' },
  workers: { type: 'string', default: `${availableParallelism()}` },
  json: { type: 'boolean', default: false },
  hash: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
  shrink: { type: 'boolean', default: false },
  break: { type: 'string' },
} as const

/** Throws an error with an explanation if the arguments are invalid. */
export function readArguments(
  args: readonly string[],
  { SIM_SEED: seed, SIM_PLAN: change }: Readonly<Record<string, string | undefined>>,
): RunArguments {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const { seeds, minutes, json, hash, full, shrink, break: broken = null } = values
  const names = Object.keys(MUTATIONS)
  if (broken !== null && !names.includes(broken)) {
    throw new Error(`--break ${broken}: the rules that can be switched off are ${names.join(', ')}`)
  }
  if (change !== undefined && seed === undefined) throw new Error('SIM_PLAN needs SIM_SEED')
  if (shrink && seed === undefined)
    throw new Error('--shrink needs SIM_SEED; with several seeds, those that fail are always shrunk')
  if (minutes !== undefined && !/^[\d.]*[1-9]/.test(minutes)) throw new Error(`--minutes ${minutes}: a number above 0`)
  return {
    from: whole('--from ', values.from, 0, LARGEST_SEED),
    count: minutes !== undefined && seeds === undefined ? Infinity : whole('--seeds ', seeds ?? '100', 1, LARGEST_SEED),
    minutes: Number(minutes ?? Infinity),
    workers: whole('--workers ', values.workers, 1, 256),
    json,
    hash,
    full,
    shrink,
    broken,
    plan: seed === undefined ? null : planFrom(whole('SIM_SEED=', seed, 0, LARGEST_SEED), change),
  }
}

function planFrom(seed: number, change: string | undefined): Plan {
  const plan = change === undefined ? planOf(seed) : readPlan(seed, change)
  if (typeof plan === 'string') throw new Error(plan)
  return plan
}

function whole(name: string, text: string, least: number, most: number): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : NaN
  if (number >= least && number <= most) return number
  throw new Error(`${name}${text}: a whole number from ${least} to ${most}`)
}
