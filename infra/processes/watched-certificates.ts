/** The certificates whose end a part watches: those of its TLS connections to PostgreSQL and NATS. */
import { readFile } from 'node:fs/promises'
import type { Configuration } from '../config/configuration.ts'
import type { ExpiryReader } from '../metrics/process-metrics.ts'
import { usesTls } from '../postgres/connection/tls-by-address.ts'
import { pemExpiryMs, serverExpiryMs, type TlsServer } from '../system/certificate-expiry.ts'

const POSTGRES_PORT = 5_432
const NATS_PORT = 4_222

/** By the label `certificate`. */
export function watchedCertificates({
  databaseUrl,
  nats,
}: Pick<Configuration, 'databaseUrl' | 'nats'>): Readonly<Record<string, ExpiryReader>> {
  const { urls = [], caFile, certFile, keyFile } = nats
  const hasTlsFiles = [caFile, certFile, keyFile].some((file) => file !== undefined)
  const secured = urls.filter((url) => hasTlsFiles || url.startsWith('tls:'))
  return {
    ...(databaseUrl === undefined || !usesTls(databaseUrl)
      ? {}
      : { postgres: () => serverExpiryMs({ protocol: 'postgres', ...placeOf(databaseUrl, POSTGRES_PORT) }) }),
    ...(secured.length === 0
      ? {}
      : {
          nats: async () => {
            const [ca, cert, key] = await Promise.all([caFile, certFile, keyFile].map(contentOf))
            const files = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
            return earliest(
              secured.map((url) => serverExpiryMs({ protocol: 'nats', ...placeOf(url, NATS_PORT), ...files })),
            )
          },
        }),
    ...(certFile === undefined ? {} : { nats_client: async () => pemExpiryMs(await readFile(certFile, 'utf8')) }),
  }
}

function placeOf(url: string, port: number): Pick<TlsServer, 'host' | 'port'> {
  const { hostname, port: given } = new URL(url)
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: given === '' ? port : Number(given) }
}

async function contentOf(file: string | undefined): Promise<Buffer | undefined> {
  return file === undefined ? undefined : readFile(file)
}

/** Of the servers that reply. Rejects if none does. */
async function earliest(expiries: readonly Promise<number>[]): Promise<number> {
  const read = await Promise.allSettled(expiries)
  const known = read.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  if (known.length === 0) return Promise.any(expiries)
  return Math.min(...known)
}
