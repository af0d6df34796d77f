/**
 * Installs nats-server by the system's package manager. On Debian and its derivatives the package is only downloaded and
 * unpacked: installing it would start a system service that is open to the network.
 */
import { join } from 'node:path'
import { unpackDebianPackages, unpacksDebianPackages } from './debian-packages.ts'
import { prefixed, rootPrefix, runPackageManager } from './package-manager.ts'
import { findProgram } from './programs.ts'

/** Package managers that start no service, with their install command. */
const INSTALLERS: readonly (readonly [string, readonly string[]])[] = [
  ['dnf', ['install', '-y', 'nats-server']],
  ['microdnf', ['install', '-y', 'nats-server']],
  ['yum', ['install', '-y', 'nats-server']],
  ['apk', ['add', 'nats-server']],
  ['pacman', ['-S', '--noconfirm', 'nats-server']],
  ['zypper', ['--non-interactive', 'install', 'nats-server']],
]

const HOW_TO_GET_IT =
  'install it (https://docs.nats.io/running-a-nats-service/introduction/installation) so that nats-server is on the PATH, or set LEDGER_NATS_URL to use a server of your own'

/** Returns the path of the program. The error of a failed installation says how to install it by hand. */
export async function installNatsServer(log: (line: string) => void): Promise<string> {
  try {
    const installed = unpacksDebianPackages()
      ? join(await unpackDebianPackages(['nats-server'], log), 'usr', 'sbin', 'nats-server')
      : await install(log)
    if (installed !== undefined) return installed
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`nats-server is missing and could not be installed: ${HOW_TO_GET_IT}\n${reason}`, { cause })
  }
  throw new Error(`nats-server is missing: ${HOW_TO_GET_IT}`)
}

/** undefined: no known package manager, or no way to become root. */
async function install(log: (line: string) => void): Promise<string | undefined> {
  const installer = INSTALLERS.find(([name]) => findProgram(name) !== undefined)
  const asRoot = rootPrefix()
  if (installer === undefined || asRoot === undefined) return undefined
  const [name, args] = installer
  log(`nats-server is not installed: installing it with ${name}`)
  await runPackageManager(...prefixed(asRoot, name, args), '/', log)
  return findProgram('nats-server')
}
