/** `npm run load -- --accounts N --data-dir DIR`: makes a ledger with so many accounts in it, to measure others with. */
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { loadMasterKey } from '../../infra/keys/master-key.ts'
import { loadFreshLedger } from '../support/loader/fresh-ledger.ts'
import { type LoadedLedger, loadLedger } from '../support/loader/ledger-load.ts'
import { DEFAULT_SHAPE } from '../support/loader/load-shape.ts'

const HELP = `Usage: npm run load -- [options]

Fills a ledger with accounts whose chains, receipts and sums are what the ledger itself would have written. The accounts
are named account-0@load and so on and share key pairs that follow from the seed (test/support/loader/shared-keys.ts).

  --data-dir DIR         a new ledger, in a PostgreSQL of its own; go on with LEDGER_DATA_DIR=DIR npm start
  --plain                    whose rows are not encrypted
  --database-url URL     or: a migrated ledger that is empty and not being served,
  --master-key-file FILE     and the master key that it was made with

  --accounts N           (default ${DEFAULT_SHAPE.accounts})
  --transactions N       of each account (default ${DEFAULT_SHAPE.transactions})
  --skewed               a few accounts have most of them
  --tokens N             fungible tokens beside the base unit (default ${DEFAULT_SHAPE.tokens})
  --nfts N               minted to collectors, some handed on or burned (default ${DEFAULT_SHAPE.nfts})
  --drained N, --empty N, --keyless N   accounts with balances of 0, without transactions, without a key (default 0)
  --keys N               key pairs that the accounts share (default ${DEFAULT_SHAPE.keys})
  --seed N               the same seed gives the same accounts and amounts (default ${DEFAULT_SHAPE.seed})
  --threads N            that make accounts (default: one a processor)
`

const WHOLE_NUMBER = /^[0-9]{1,10}$/

const NUMBER = { type: 'string' } as const
const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string' },
    'database-url': { type: 'string' },
    'master-key-file': { type: 'string' },
    accounts: NUMBER,
    transactions: NUMBER,
    tokens: NUMBER,
    nfts: NUMBER,
    drained: NUMBER,
    empty: NUMBER,
    keyless: NUMBER,
    keys: NUMBER,
    seed: NUMBER,
    threads: NUMBER,
    skewed: { type: 'boolean', default: false },
    plain: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

try {
  if (values.help) process.stdout.write(HELP)
  else await load()
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}

async function load(): Promise<void> {
  const {
    'data-dir': dataDir,
    'database-url': url,
    'master-key-file': keyFile,
    help: _help,
    skewed,
    plain,
    ...numbers
  } = values
  const options = {
    skewed,
    say,
    ...Object.fromEntries(Object.entries(numbers).map(([name, text]) => [name, wholeNumber(name, text)])),
  }
  if (dataDir !== undefined && url === undefined) {
    const ledger = await loadFreshLedger({ ...options, dataDir, encryption: plain ? 'off' : 'on' })
    await report(ledger, ledger.url)
    await ledger.stop()
  } else if (dataDir === undefined && url !== undefined && keyFile !== undefined) {
    await report(await loadLedger({ ...options, url, masterKey: await loadMasterKey(keyFile) }), url)
  } else {
    throw new Error('give either --data-dir, or --database-url and --master-key-file')
  }
}

function wholeNumber(name: string, text: string): number {
  if (!WHOLE_NUMBER.test(text)) throw new Error(`--${name} must be a whole number`)
  return Number(text)
}

async function report({ sums, times }: LoadedLedger, url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  const [size] = await sql<{ megabytes: number }[]>`
    SELECT (pg_database_size(current_database()) / 1048576)::integer AS megabytes`
  await sql.end()
  const transactions = sums.completed + sums.failed
  const seconds = times.totalMs / 1000
  const lines = [
    `accounts      ${sums.accounts}, ${Math.round(sums.accounts / seconds)}/s`,
    `transactions  ${transactions} (${sums.failed} failed), ${Math.round(transactions / seconds)}/s`,
    `database      ${size?.megabytes ?? 0} MiB`,
    `copying       ${(times.copyMs / 1000).toFixed(1)} s`,
    `indexes       ${(times.indexMs / 1000).toFixed(1)} s`,
    `statistics    ${(times.settleMs / 1000).toFixed(1)} s, with a checkpoint`,
    `all           ${seconds.toFixed(1)} s`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
