/** Unpacks packages of Debian and its derivatives without installing them: an installed service would start. */
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { prefixed, rootPrefix, runPackageManager } from './package-manager.ts'
import { findProgram } from './programs.ts'
import { toolsDirectory } from './tools-directory.ts'

/** False: this system has no apt-get. */
export function unpacksDebianPackages(): boolean {
  return findProgram('apt-get') !== undefined
}

/**
 * Downloads the packages once, without those that they depend on. Returns the persistent directory with their files, such as
 * `usr/bin/promtool`; it appears complete or not at all. Throws with the last lines of apt-get.
 */
export async function unpackDebianPackages(
  packages: readonly string[],
  log: (line: string) => void = () => undefined,
): Promise<string> {
  const target = join(toolsDirectory(), `debian-${packages.join('+')}`)
  if (existsSync(target)) return target
  const place = mkdtempSync(`${target}.`)
  try {
    log(`downloading with apt-get: ${packages.join(', ')}`)
    await download(packages, place, log)
    const archives = readdirSync(place).filter((name) => name.endsWith('.deb'))
    if (archives.length !== packages.length) throw new Error('apt-get did not download each package')
    for (const archive of archives) await runPackageManager('dpkg-deb', ['--extract', archive, 'files'], place, log)
    renameSync(join(place, 'files'), target)
    log(`unpacked into ${target}`)
  } catch (error) {
    // Another process may have unpacked the same packages meanwhile.
    if (!existsSync(target)) throw error
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
  return target
}

async function download(packages: readonly string[], place: string, log: (line: string) => void): Promise<void> {
  try {
    await runPackageManager('apt-get', ['download', ...packages], place, log)
  } catch (error) {
    const asRoot = rootPrefix()
    if (asRoot === undefined) throw error
    // The package lists are missing or old. apt-get does not wait for another process that renews them.
    const update = [join(toolsDirectory(), 'apt-get.lock'), 'apt-get', 'update']
    await runPackageManager(...prefixed(asRoot, 'flock', update), place, log)
    await runPackageManager('apt-get', ['download', ...packages], place, log)
  }
}
