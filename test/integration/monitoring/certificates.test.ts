/** A part sees when the certificates of real TLS servers expire. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPostgres } from '../../../infra/embedded/postgres-server.ts'
import { connect } from '../../../infra/postgres/connection/connection.ts'
import { watchedCertificates } from '../../../infra/processes/watched-certificates.ts'
import { pemExpiryMs } from '../../../infra/system/certificate-expiry.ts'
import { certificateFor } from '../../support/certificates.ts'
import { Closing } from '../../support/closing.ts'
import { type SecuredNats, startSecuredNats } from '../../support/nats/secured-nats.ts'
import { installCertificate } from '../../support/postgres/server-certificate.ts'

const DAY_MS = 86_400_000

const closing = new Closing()
let nats: SecuredNats
let databaseUrl: string
let dataDir: string

beforeAll(async () => {
  nats = await startSecuredNats(1)
  closing.add(() => nats.close())
  const directory = mkdtempSync(join(tmpdir(), 'ledger-certificates-'))
  closing.add(() => rmSync(directory, { recursive: true, force: true }))
  const server = await startPostgres({ dataDir: directory })
  closing.add(() => server.stop())
  databaseUrl = server.url
  dataDir = join(directory, 'data')
})

afterAll(() => closing.close())

function natsOf(urls: readonly string[], more: { readonly certFile?: string } = {}) {
  const files = {
    credentialsFile: undefined,
    caFile: join(nats.secrets, 'ca.pem'),
    certFile: undefined,
    keyFile: undefined,
  }
  return { urls, ...files, replicas: 1, ...more }
}

function withTls(): string {
  const url = new URL(databaseUrl)
  url.searchParams.set('sslmode', 'verify-full')
  return url.toString()
}

async function offerTls(): Promise<void> {
  installCertificate(dataDir, nats.secrets)
  const { sql, end } = await connect({ url: databaseUrl, applicationName: 'certificates' })
  await sql`ALTER SYSTEM SET ssl_cert_file = 'postgres.pem'`
  await sql`ALTER SYSTEM SET ssl_key_file = 'postgres.key'`
  await sql`ALTER SYSTEM SET ssl = 'on'`
  await sql`SELECT pg_reload_conf()`
  await end()
}

function expiryOf(file: string): number {
  return pemExpiryMs(readFileSync(join(nats.secrets, file), 'utf8'))
}

test('PostgreSQL: nothing until it offers TLS, then the end of the certificate that it has now', async () => {
  const read = watchedCertificates({ databaseUrl: withTls(), nats: natsOf([]) })['postgres']
  await expect(read?.()).rejects.toThrow('the server offers no TLS')
  await offerTls()
  await expect.poll(() => read?.().catch(() => undefined)).toBe(expiryOf('postgres.pem'))
  expect(expiryOf('postgres.pem')).toBeGreaterThan(Date.now() + 300 * DAY_MS)
  const short = certificateFor(nats.secrets, 'postgres', ['localhost'])
  writeFileSync(join(nats.secrets, 'postgres.pem'), short)
  await offerTls()
  await expect.poll(() => read?.()).toBe(pemExpiryMs(short))
  expect(pemExpiryMs(short)).toBeLessThan(Date.now() + 2 * DAY_MS)
})

test('NATS: the end of its certificate or of its authority, whichever is first, of the servers that reply', async () => {
  const [port = 0] = nats.servers.map((server) => server.port)
  const urls = [`tls://127.0.0.1:${port}`, `tls://127.0.0.1:${port === 1 ? 2 : 1}`]
  const read = watchedCertificates({ databaseUrl: undefined, nats: natsOf(urls) })['nats']
  expect(await read?.()).toBe(Math.min(expiryOf('nats-1.pem'), expiryOf('ca.pem')))
})

test('what a part shows to NATS is read from its file; without TLS nothing is watched', async () => {
  const certFile = join(nats.secrets, 'nats-1.pem')
  const readers = watchedCertificates({ databaseUrl, nats: natsOf(['nats://localhost'], { certFile }) })
  expect(await readers['nats_client']?.()).toBe(expiryOf('nats-1.pem'))
  const plain = { ...natsOf(['nats://localhost']), caFile: undefined }
  expect(watchedCertificates({ databaseUrl, nats: plain })).toEqual({})
})
