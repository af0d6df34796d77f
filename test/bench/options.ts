import { parseArgs } from 'node:util'

export interface BenchOptions {
  /** Of each measured run; warming up comes on top. */
  readonly seconds: number
  readonly connections: number
  readonly nodes: number
  readonly edges: number
  readonly accounts: number
  /** Only whether a second node adds to what the nodes can do. */
  readonly scaling: boolean
  /** Only what encryption at rest costs. */
  readonly encryption: boolean
  /** Where to write the numbers for machines. */
  readonly json: string | undefined
}

export const HELP = `Usage: npm run bench -- [options]

Starts a ledger of its own, loads it over HTTP (keep-alive, closed loop, signatures prepared beforehand) and prints
what it did and what that cost: on random accounts, on a single one, and transfers between accounts of different shards:
as many as get through, then half as many at a constant rate.

  --seconds N       of each measured run (default 10)
  --connections N   requests in flight (default 128)
  --accounts N      registered beforehand (default 10000)
  --nodes N, --edges N   processes of the ledger (default 1 each)
  --scaling         instead of all that: one node and then two, each held to two fifths of a processor, so that the
                    nodes are what bounds the rate (needs the right to make control groups)
  --encryption      instead of all that: two ledgers, one with encryption at rest and one without, in turns
  --json FILE       also writes the numbers as JSON
`

/** undefined: help was asked for. Throws an error that says what is wrong. */
export function readOptions(args: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '10' },
      connections: { type: 'string', default: '128' },
      nodes: { type: 'string', default: '1' },
      edges: { type: 'string', default: '1' },
      accounts: { type: 'string', default: '10000' },
      scaling: { type: 'boolean', default: false },
      encryption: { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  return {
    seconds: wholeNumber(values.seconds, 'seconds', 3600),
    connections: wholeNumber(values.connections, 'connections', 10_000),
    nodes: wholeNumber(values.nodes, 'nodes', 64),
    edges: wholeNumber(values.edges, 'edges', 64),
    accounts: wholeNumber(values.accounts, 'accounts', 1_000_000),
    scaling: values.scaling,
    encryption: values.encryption,
    json: values.json,
  }
}

function wholeNumber(text: string, name: string, most: number): number {
  const number = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > most) throw new Error(`--${name} must be a whole number from 1 to ${most}`)
  return number
}
