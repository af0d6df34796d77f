/** What pgbench prints and logs (PostgreSQL's documentation, pgbench, `--log`). */

export interface PgbenchSummary {
  readonly transactions: number
  readonly failed: number
  /** Without the time in which connections were made. */
  readonly perSecond: number
}

/** Of its standard output. Throws when it says no rate. */
export function readSummary(printed: string): PgbenchSummary {
  const numberAfter = (label: RegExp): number | undefined => {
    const text = label.exec(printed)?.[1]
    return text === undefined ? undefined : Number(text)
  }
  const perSecond = numberAfter(/^tps = ([0-9.]+) \(without initial connection time\)/m)
  const transactions = numberAfter(/^number of transactions actually processed: ([0-9]+)/m)
  if (perSecond === undefined || transactions === undefined) throw new Error(`pgbench said no rate:\n${printed}`)
  // Versions before 15 count none.
  return { transactions, failed: numberAfter(/^number of failed transactions: ([0-9]+)/m) ?? 0, perSecond }
}

/** Of one log: how long each transaction took, milliseconds. The third column has microseconds, or a word for a failure. */
export function readDurations(log: string): readonly number[] {
  return log
    .split('\n')
    .map((line) => line.split(' ')[2] ?? '')
    .filter((text) => /^[0-9]+$/.test(text))
    .map((text) => Number(text) / 1000)
}
