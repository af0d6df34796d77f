/** Everything that a load makes, on its way into the tables: makers at work at once, tables filled at once. */
import { addSums, type ChunkTable, type LoadChunk, type LoadSums, NOTHING_LOADED } from './load-chunk.ts'
import type { LoadShape } from './load-shape.ts'
import type { AccountMaker } from './load-threads.ts'
import { openTableLoad, type TableLoad } from './table-load.ts'

export interface FillingOptions {
  readonly url: string
  readonly shape: LoadShape
  readonly founded: AsyncIterable<LoadChunk>
  /** How many accounts the founders are. */
  readonly founders: number
  readonly makers: readonly AccountMaker[]
  readonly say: (line: string) => void
}

export interface FillingTimes {
  /** Making and copying, which go on side by side. */
  readonly copyMs: number
  readonly indexMs: number
}

/** About how many transactions are made in one piece: of more at once, more is alive when memory is cleared. */
const CHUNK_TRANSACTIONS = 300
/** Of each maker, so that it never waits for what it made to be copied. */
const CHUNKS_AT_ONCE = 2
const SAY_EVERY_MS = 3_000

export async function fillTables(
  options: FillingOptions,
): Promise<{ readonly sums: LoadSums; readonly times: FillingTimes }> {
  const { shape, makers, say } = options
  const startedMs = performance.now()
  const tables = new Tables(options.url)
  try {
    let sums = NOTHING_LOADED
    let saidMs = startedMs
    const take = async (chunk: LoadChunk): Promise<void> => {
      await tables.write(chunk.tables)
      sums = addSums(sums, chunk.sums)
      const nowMs = performance.now()
      if (nowMs - saidMs < SAY_EVERY_MS) return
      saidMs = nowMs
      say(progressOf(sums, shape, nowMs - startedMs))
    }
    for await (const chunk of options.founded) await take(chunk)
    let next = options.founders
    const size = Math.max(1, Math.floor(CHUNK_TRANSACTIONS / shape.transactions))
    const work = async (maker: AccountMaker): Promise<void> => {
      while (next < shape.accounts) {
        const from = next
        next = Math.min(from + size, shape.accounts)
        await take(await maker.accounts(from, next))
      }
    }
    await Promise.all(makers.flatMap((maker) => Array.from({ length: CHUNKS_AT_ONCE }, () => work(maker))))
    const copiedMs = performance.now()
    say(`${sums.accounts} accounts copied in ${seconds(copiedMs - startedMs)} s, making the indexes ...`)
    await tables.finish()
    return { sums, times: { copyMs: copiedMs - startedMs, indexMs: performance.now() - copiedMs } }
  } catch (error) {
    tables.abandon()
    throw error
  }
}

function progressOf({ accounts, completed, failed }: LoadSums, shape: LoadShape, passedMs: number): string {
  const restMs = (passedMs / accounts) * (shape.accounts - accounts)
  const rate = Math.round((accounts * 1000) / passedMs)
  const transactions = `${completed + failed} transactions`
  return `${accounts} of ${shape.accounts} accounts, ${transactions}: ${rate} accounts/s, ${seconds(restMs)} s to go`
}

function seconds(durationMs: number): string {
  return (durationMs / 1000).toFixed(1)
}

/** Opened when the first rows come. */
class Tables {
  private readonly url: string
  private readonly loads = new Map<string, Promise<TableLoad>>()

  constructor(url: string) {
    this.url = url
  }

  async write(tables: readonly ChunkTable[]): Promise<void> {
    await Promise.all(
      tables.map(async ({ table, columns, bytes }) => {
        const opened = this.loads.get(table) ?? openTableLoad(this.url, table, columns)
        this.loads.set(table, opened)
        await (await opened).write(bytes)
      }),
    )
  }

  async finish(): Promise<void> {
    const loads = await Promise.all(this.loads.values())
    await Promise.all(loads.map((load) => load.finish()))
  }

  abandon(): void {
    for (const opened of this.loads.values()) {
      opened.then(
        (load) => load.abandon(),
        () => undefined,
      )
    }
  }
}
