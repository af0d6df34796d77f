/** Files of Debian packages for tests: programs and libraries that the ledger itself does not need. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { unpackDebianPackages, unpacksDebianPackages } from '../../../infra/embedded/debian-packages.ts'

export interface DebianFiles {
  /** The path of a file that a package has at `relative`, such as `usr/bin/promtool`. */
  readonly path: (relative: string) => string
  /** LD_LIBRARY_PATH of programs that use shared libraries of the packages. */
  readonly libraryPath: string
}

/**
 * Uses the installed files if `probe`, one of them, exists; otherwise unpacks the packages. Name the packages of shared
 * libraries too: the packages that a package depends on are not downloaded.
 */
export async function debianFiles(packages: readonly string[], probe: string): Promise<DebianFiles> {
  const root = existsSync(join('/', probe)) ? '/' : await unpacked(packages, probe)
  const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  return {
    path: (relative) => join(root, relative),
    libraryPath: join(root, 'usr', 'lib', `${architecture}-linux-gnu`),
  }
}

async function unpacked(packages: readonly string[], probe: string): Promise<string> {
  const byHand = `install the packages ${packages.join(', ')} so that ${join('/', probe)} exists`
  if (!unpacksDebianPackages())
    throw new Error(`This test needs ${join('/', probe)}, and there is no apt-get: ${byHand}`)
  try {
    return await unpackDebianPackages(packages)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`This test needs ${join('/', probe)}: ${byHand}\n${reason}`, { cause })
  }
}
