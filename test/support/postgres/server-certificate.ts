/** The certificate and key of a PostgreSQL under test, where it takes them from, and as its user may read them. */
import { chmodSync, chownSync, copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** `secrets`: what `makeSecrets` made. */
export function installCertificate(dataDir: string, secrets: string): void {
  const { uid, gid } = statSync(dataDir)
  for (const name of ['postgres.pem', 'postgres.key']) {
    copyFileSync(join(secrets, name), join(dataDir, name))
    chownSync(join(dataDir, name), uid, gid)
    chmodSync(join(dataDir, name), 0o600)
  }
}
