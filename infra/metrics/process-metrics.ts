/** The metrics that each part has: the disk of its data directory, and the certificates of its connections. */
import { statfs } from 'node:fs/promises'
import { Gauge, type Registry } from 'prom-client'
import type { Log } from '../../runtime/ports/log.ts'
import { MS_PER_SECOND, registerGauges } from './registry.ts'

interface FileSystem {
  readonly bsize: number
  readonly blocks: number
  /** Blocks that ordinary users may fill. */
  readonly bavail: number
}

export function registerDataDirGauges(
  registry: Registry,
  dataDir: string,
  stat: (path: string) => Promise<FileSystem> = statfs,
): void {
  // A part that keeps no files may lack the directory.
  const measure = () => stat(dataDir).catch(() => undefined)
  registerGauges(registry, measure, [
    {
      name: 'ledger_data_dir_size_bytes',
      help: 'Size of the file system of LEDGER_DATA_DIR.',
      of: ({ bsize, blocks }) => bsize * blocks,
    },
    {
      name: 'ledger_data_dir_free_bytes',
      help: 'Free bytes of the file system of LEDGER_DATA_DIR.',
      of: ({ bsize, bavail }) => bsize * bavail,
    },
  ])
}

/** Returns milliseconds since 1970. */
export type ExpiryReader = () => Promise<number>

/** A server may get a new certificate while connections stay. */
const REREAD_MS = 3_600_000
const RETRY_MS = 60_000

/** `readers` by the value of the label. A scrape never waits for them: it starts what is due, and shows the last result. */
export function registerCertificateGauge(
  registry: Registry,
  readers: Readonly<Record<string, ExpiryReader>>,
  log: Pick<Log, 'warn'>,
  monotonicMs: () => number = () => performance.now(),
): void {
  const latest = Object.entries(readers).map(
    ([certificate, read]) =>
      [
        certificate,
        rereading(read, monotonicMs, (reason) => log.warn('certificate_not_read', { certificate, reason })),
      ] as const,
  )
  registry.registerMetric(
    new Gauge({
      name: 'ledger_certificate_expires_timestamp_seconds',
      help: 'Time at which a certificate or one of its authorities expires: that of PostgreSQL or NATS as this part sees it, or the one that this part shows to NATS (nats_client).',
      labelNames: ['certificate'],
      registers: [],
      collect() {
        for (const [certificate, expiryMs] of latest) {
          const known = expiryMs()
          if (known !== undefined) this.set({ certificate }, known / MS_PER_SECOND)
        }
      },
    }),
  )
}

/** Reads again after an hour, or a minute after a failure. `failed`: called for the first failure of a row. */
function rereading(
  read: ExpiryReader,
  monotonicMs: () => number,
  failed: (reason: string) => void,
): () => number | undefined {
  let known: number | undefined
  let dueAtMs = Number.NEGATIVE_INFINITY
  let hasFailed = false
  const reread = async (): Promise<void> => {
    dueAtMs = Number.POSITIVE_INFINITY
    try {
      known = await read()
      hasFailed = false
      dueAtMs = monotonicMs() + REREAD_MS
    } catch (error) {
      if (!hasFailed) failed(error instanceof Error ? error.message : 'unknown')
      hasFailed = true
      dueAtMs = monotonicMs() + RETRY_MS
    }
  }
  return () => {
    if (monotonicMs() >= dueAtMs) void reread()
    return known
  }
}
