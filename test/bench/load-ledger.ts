/**
 * `npm run load -- --data-dir DIR --accounts N`: creates a ledger with this number of accounts, for later measurements.
 */
import { parseArgs } from 'node:util'
import { loadFreshLedger } from '../support/loader/fresh-ledger.ts'
import { DEFAULT_SHAPE } from '../support/loader/load-plan.ts'
import { say } from './context.ts'

const HELP = `Usage: npm run load -- --data-dir DIR [options]

Makes a new ledger, in a PostgreSQL of its own, of accounts whose chains, receipts and sums are what the ledger itself
would have written. The accounts are named account-0@load and so on and share key pairs that follow from the seed
(test/support/loader/shared-keys.ts). Go on with LEDGER_DATA_DIR=DIR npm start.

  --accounts N           (default ${DEFAULT_SHAPE.accounts})
  --transactions N       of each account, credits and debits (default ${DEFAULT_SHAPE.transactions})
  --keys N               key pairs that the accounts share (default ${DEFAULT_SHAPE.keys})
  --seed N               the same seed gives the same accounts and amounts (default ${DEFAULT_SHAPE.seed})
`

const WHOLE_NUMBER = /^[0-9]{1,10}$/

try {
  await load()
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}

async function load(): Promise<void> {
  const { help, 'data-dir': dataDir, ...numbers } = readArguments()
  if (help) {
    process.stdout.write(HELP)
    return
  }
  if (dataDir === undefined) throw new Error('give --data-dir')
  const shape = Object.fromEntries(Object.entries(numbers).map(([name, text]) => [name, wholeNumber(name, text)]))
  const { sums, tookMs, stop } = await loadFreshLedger({ ...shape, say, dataDir })
  await stop()
  const transactions = sums.completed + sums.failed
  const perSecond = (count: number): number => Math.round((count * 1000) / tookMs)
  process.stdout.write(
    `accounts      ${sums.accounts}, ${perSecond(sums.accounts)}/s\n` +
      `transactions  ${transactions} (${sums.failed} failed), ${perSecond(transactions)}/s\n` +
      `all           ${(tookMs / 1000).toFixed(1)} s\n`,
  )
}

function readArguments() {
  const text = { type: 'string' } as const
  const options = { accounts: text, transactions: text, keys: text, seed: text, 'data-dir': text }
  return parseArgs({ options: { ...options, help: { type: 'boolean', default: false } } }).values
}

function wholeNumber(name: string, text: string): number {
  if (!WHOLE_NUMBER.test(text)) throw new Error(`--${name} must be a whole number`)
  return Number(text)
}
