/** A token of SoftHSM, an HSM in software, for tests of keys outside. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { debianFiles } from '../processes/debian-files.ts'
import { projectRoot } from '../processes/cluster-process.ts'

export interface SoftHsm {
  /** For processes that use the token. */
  readonly env: Readonly<Record<string, string>>
  /** LEDGER_KEY_COMMAND. */
  readonly command: string
  /** The name of a key on the token. */
  readonly reference: (label: string) => string
  /** Creates a key on the token by `ledger keys pkcs11-create`. */
  readonly create: (label: string, kind: 'mac' | 'sign') => Promise<void>
  /** Takes the token out of its slot, and puts it back. */
  readonly unplug: () => void
  readonly plug: () => void
  readonly remove: () => void
}

const PACKAGES = ['softhsm2', 'libsofthsm2', 'softhsm2-common']
const PIN = '271828'
const TOKEN = 'test ledger'
const run = promisify(execFile)

export async function startSoftHsm(): Promise<SoftHsm> {
  const files = await debianFiles(PACKAGES, 'usr/bin/softhsm2-util')
  const module = files.path('usr/lib/softhsm/libsofthsm2.so')
  const directory = mkdtempSync(join(tmpdir(), 'ledger-hsm-'))
  const [tokens, away, pinFile] = ['tokens', 'away', 'pin'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(tokens)
  writeFileSync(pinFile, `${PIN}\n`, { mode: 0o600 })
  const configuration = join(directory, 'softhsm2.conf')
  writeFileSync(configuration, `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`)
  const env = { SOFTHSM2_CONF: configuration, LD_LIBRARY_PATH: files.libraryPath }
  const slot = ['--init-token', '--free', '--label', TOKEN, '--so-pin', PIN, '--pin', PIN]
  await run(files.path('usr/bin/softhsm2-util'), ['--module', module, ...slot], { env: { ...process.env, ...env } })
  const ledger = join(projectRoot(), 'infra', 'main', 'ledger.mjs')
  const device = ['--module', module, '--pin-file', pinFile]
  const reference = (label: string): string => `pkcs11:token=${encodeURIComponent(TOKEN)};object=${label}`
  return {
    env,
    command: [process.execPath, ledger, 'keys', 'pkcs11', ...device].join(' '),
    reference,
    create: async (label, kind) => {
      const args = [ledger, 'keys', 'pkcs11-create', ...device, '--kind', kind, reference(label)]
      await run(process.execPath, args, { env: { ...process.env, ...env } })
    },
    unplug: () => {
      renameSync(tokens, away)
      mkdirSync(tokens)
    },
    plug: () => {
      rmSync(tokens, { recursive: true })
      renameSync(away, tokens)
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}
