/** Sizes of ledgers as the command line names them. */
import { MOST_ACCOUNTS, MOST_OF_AN_ACCOUNT } from '../../support/loader/load-plan.ts'

export interface GrowthSize {
  readonly accounts: number
  readonly transactionsEach: number
}

const SIZE = /^([0-9]{1,8})(?::([0-9]{1,11}))?$/

/** `10000,1000000:10000000`: accounts, and the total number of transactions (default: one per account). */
export function readSizes(text: string): readonly GrowthSize[] {
  return text.split(',').map((part) => readSize(part.trim()))
}

function readSize(text: string): GrowthSize {
  const [, accountsText = '0', transactionsText = accountsText] = SIZE.exec(text) ?? []
  const [accounts, transactions] = [Number(accountsText), Number(transactionsText)]
  if (accounts < 1 || accounts > MOST_ACCOUNTS) {
    throw new Error(`--growth: a size is 1 to ${MOST_ACCOUNTS} accounts, with or without :TRANSACTIONS, not '${text}'`)
  }
  const transactionsEach = transactions / accounts
  if (!Number.isInteger(transactionsEach) || transactionsEach < 1 || transactionsEach > MOST_OF_AN_ACCOUNT) {
    throw new Error(
      `--growth: every account has the same number of transactions, 1 to ${MOST_OF_AN_ACCOUNT}: '${text}' gives ${transactionsEach} to each`,
    )
  }
  return { accounts, transactionsEach }
}
