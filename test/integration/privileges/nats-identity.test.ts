/** The certificate of a NATS server must name the IP address by which a client reaches it. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { certificateFor } from '../../support/certificates.ts'
import { SILENT_LOG } from '../../support/nats/nats.ts'
import { until } from '../../support/nats/nats-until.ts'
import { type SecuredNats, startSecuredNats } from '../../support/nats/secured-nats.ts'

const NAME = 'nats-1'

let nats: SecuredNats
beforeAll(async () => {
  nats = await startSecuredNats(1)
  return () => nats.close()
})

function theServer() {
  const [server] = nats.servers
  if (server === undefined) throw new Error('no server was started')
  return server
}

async function certifyFor(...hosts: readonly string[]): Promise<void> {
  await theServer().kill()
  const path = join(nats.secrets, `${NAME}.pem`)
  // No client may write it.
  rmSync(path)
  writeFileSync(path, certificateFor(nats.secrets, NAME, hosts))
  await theServer().start()
}

const refusals = (): number =>
  theServer()
    .logLines()
    .filter((line) => line.includes('TLS handshake error')).length

test('C5: a client connects once the certificate names the address of the server, and not if it names localhost', async () => {
  await certifyFor(NAME, 'localhost')
  let connected = false
  const connecting = nats.connect('node', SILENT_LOG).then(() => {
    connected = true
  })
  const before = refusals()
  await until(() => connected || refusals() >= before + 2)
  expect(connected).toBe(false)
  await certifyFor(NAME, '127.0.0.1')
  await connecting
  expect(connected).toBe(true)
})
