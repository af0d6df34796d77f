import { parseArgs } from 'node:util'
import { type GrowthSize, readSizes } from './scenes/growth-sizes.ts'

/** The write path: measured unless `--only` selects others. */
const WRITE_PATH = ['idle', 'submit', 'batches', 'transfers', 'low-load'] as const
/** Other systems under the same load, after the ledger. */
const PEERS = ['pgbench', 'plain'] as const
/** All measurements, in their order. */
export const MEASUREMENTS = [
  ...WRITE_PATH,
  'few',
  'queries',
  'hand-off',
  'hostile',
  'fairness',
  'events',
  'restart',
  ...PEERS,
] as const
export type MeasurementName = (typeof MEASUREMENTS)[number]

export interface BenchOptions {
  /** Duration of each measured run, without warming up. */
  readonly seconds: number
  readonly connections: number
  readonly nodes: number
  readonly edges: number
  readonly accounts: number
  /** Selected measurements. */
  readonly only: readonly MeasurementName[]
  /** Orders a second at low load, one run each. */
  readonly rates: readonly number[]
  /** Only whether a second node increases the throughput. */
  readonly scaling: boolean
  /** Only the performance at each of these sizes; empty: not measured. */
  readonly growth: readonly GrowthSize[]
  /** Only the cost of steps and statements by the size of the account, in this process. */
  readonly steps: boolean
  /** Directory of loaded ledgers; undefined: none. */
  readonly growthDir: string | undefined
  /** Only half of the maximal load, for this number of minutes; undefined: not measured. */
  readonly soakMinutes: number | undefined
  /** Output file of the JSON report. */
  readonly json: string | undefined
  /** File that `--json` wrote, to compare with; undefined: the last run of each row. */
  readonly against: string | undefined
}

/** At lower rates a connection would be idle for so long that the ledger closes it. */
const LEAST_PER_SECOND = 10
const MOST_PER_SECOND = 50_000
const DEFAULT_RATES = '100,500,2000'
const DEFAULT_SOAK_MINUTES = '60'
const LEAST_SOAK_MINUTES = 0.25
/** A week. */
const MOST_SOAK_MINUTES = 10_080

export const HELP = `Usage: npm run bench -- [options]

Starts a ledger of its own, loads it over HTTP (keep-alive, signatures prepared beforehand) and prints rates, latencies,
processor time and WAL. It measures the write path:

  idle        what the ledger uses without any request
  submit      as many orders as get through, to all accounts and to one
  batches     the same, a hundred in a request
  transfers   between accounts of different shards: as many as get through, then half as many at a constant rate
  low-load    one client alone, then orders at constant rates; latencies count from the intended time of sending

With --only also:

  few         as many orders as get through, to ten accounts, to two by turns
  queries     lists of what was written: by account, time and amount, deep pages, counts
  hand-off    a constant rate of submissions while a node joins, is drained and leaves
  hostile     200 submissions a second beside 1,000 requests without a token: pages, logins, forged tokens, malformed ones
  fairness    20 orders a second of one client beside another that sends as much as it can: orders, batches, searches; in rounds
  events      1,000 orders a second alone, with a stream of events, with a webhook, and with 1,000 streams of other accounts
  restart     time until ready, and submissions to accounts that are not in memory yet
  pgbench     TPC-B on the same PostgreSQL, where there is a pgbench
  plain       a double-entry ledger in SQL functions behind HTTP, without signatures and chains, on the same PostgreSQL

  --only NAME[,NAME]     of these; the order stays
  --peers           also pgbench and plain, and the ratios of the ledger to plain
  --rate N[,N]      orders a second of low-load (default ${DEFAULT_RATES}); without --only it measures low-load alone
  --against FILE    compares with a file that --json wrote (default: the last run of each row, kept in dist/)
  --seconds N       of each measured run (default 10)
  --connections N   requests in flight (default 128)
  --accounts N      registered beforehand (default 10000)
  --nodes N, --edges N   processes of the ledger (default 1 each)
  --scaling         instead of all that: one node and then two, each held to two fifths of a processor, so that the
                    nodes are what bounds the rate (needs the right to make control groups)
  --steps           instead of all that: what an order costs a node's thread, in this process and without a ledger, on
                    accounts with up to 10,000 assets and with up to 4,000 holds
  --growth SIZE[,SIZE]   instead of all that: ledgers of so many accounts each are loaded, started, measured, and set
                    against the first; 1000000:10000000 is a million accounts with ten million transactions
  --soak [MINUTES]  instead of all that: half of what gets through, at a constant rate, to more accounts than fit in memory
                    (half of --accounts do), while memory is watched (default 60); fails if it grows without an end
  --growth-dir DIR  for --growth and --soak: where loaded ledgers are kept; only those that are not there are loaded.
                    What was measured on one stays in it
  --json FILE       also writes the numbers as JSON, in the form that test/bench/report/report-json.ts describes
`

/** undefined: help was requested. Throws an error with the reason if the arguments are invalid. */
export function readOptions(args: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: withSoakMinutes(args),
    options: {
      seconds: { type: 'string', default: '10' },
      connections: { type: 'string', default: '128' },
      nodes: { type: 'string', default: '1' },
      edges: { type: 'string', default: '1' },
      accounts: { type: 'string', default: '10000' },
      only: { type: 'string' },
      peers: { type: 'boolean', default: false },
      rate: { type: 'string' },
      against: { type: 'string' },
      scaling: { type: 'boolean', default: false },
      steps: { type: 'boolean', default: false },
      growth: { type: 'string' },
      'growth-dir': { type: 'string' },
      soak: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const rates = (values.rate ?? DEFAULT_RATES).split(',')
  const unsaid = values.rate === undefined ? WRITE_PATH : ['low-load']
  const chosen = values.only?.split(',') ?? unsaid
  return {
    seconds: wholeNumber(values.seconds, 'seconds', 3600),
    connections: wholeNumber(values.connections, 'connections', 10_000),
    nodes: wholeNumber(values.nodes, 'nodes', 64),
    edges: wholeNumber(values.edges, 'edges', 64),
    accounts: wholeNumber(values.accounts, 'accounts', 1_000_000),
    only: measurements(values.peers ? [...chosen, ...PEERS] : chosen),
    rates: rates.map((rate) => wholeNumber(rate.trim(), 'rate', MOST_PER_SECOND, LEAST_PER_SECOND)),
    scaling: values.scaling,
    steps: values.steps,
    growth: values.growth === undefined ? [] : readSizes(values.growth),
    growthDir: values['growth-dir'],
    soakMinutes: values.soak === undefined ? undefined : minutes(values.soak),
    json: values.json,
    against: values.against,
  }
}

/** `--soak` alone has the default value: an option either has a value or has none. */
function withSoakMinutes(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const isAlone = arg === '--soak' && (args[index + 1] ?? '--').startsWith('--')
    return isAlone ? [arg, DEFAULT_SOAK_MINUTES] : [arg]
  })
}

function minutes(text: string): number {
  const number = /^[0-9]{1,5}([.][0-9]{1,2})?$/.test(text) ? Number(text) : 0
  if (number < LEAST_SOAK_MINUTES || number > MOST_SOAK_MINUTES) {
    throw new Error(`--soak must be minutes, from ${LEAST_SOAK_MINUTES} to ${MOST_SOAK_MINUTES}`)
  }
  return number
}

function measurements(given: readonly string[]): readonly MeasurementName[] {
  const names = given.map((name) => name.trim())
  const unknown = names.filter((name) => !MEASUREMENTS.some((known) => known === name))
  if (unknown.length > 0) {
    throw new Error(`--only knows ${MEASUREMENTS.join(', ')}; there is no ${unknown.join(', ') || 'empty name'}`)
  }
  return MEASUREMENTS.filter((known) => names.includes(known))
}

function wholeNumber(text: string, name: string, most: number, least = 1): number {
  const number = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0
  if (number < least || number > most) throw new Error(`--${name} must be a whole number from ${least} to ${most}`)
  return number
}
