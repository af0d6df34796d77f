/** Certificates by the authority of a deployment, for other hosts than `make-secrets.mjs` makes them for. */
import { spawnSync } from 'node:child_process'
import { projectRoot } from './processes/cluster-process.ts'

/** Made by a program of the deployment, which has no types. Arguments: the directory, the server, the hosts. */
const CERTIFY = `
import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { serverCertificate } from './infra/deploy/certificates.mjs'
const [secrets, name, ...hosts] = process.argv.slice(1)
const keyIn = (file) => createPrivateKey(readFileSync(secrets + '/' + file))
const [key, signer] = [keyIn(name + '.key'), keyIn('ca.key')]
const usages = ['server', 'client']
process.stdout.write(serverCertificate({ key, name, days: 1, signer, issuer: 'ledger', hosts, usages }))
`

/** For the key that the server has, in PEM. */
export function certificateFor(secrets: string, name: string, hosts: readonly string[]): string {
  const made = spawnSync(process.execPath, ['--input-type=module', '--eval', CERTIFY, secrets, name, ...hosts], {
    cwd: projectRoot(),
  })
  if (made.status !== 0) throw new Error(`no certificate: ${made.stderr.toString()}`)
  return made.stdout.toString()
}
