/**
 * A real Chromium for tests, headless. If none is installed, apt-get installs it. Without apt-get, or without root and
 * sudo, the error says what to install.
 */
import { type Browser, chromium } from 'playwright-core'
import { prefixed, rootPrefix, runPackageManager } from '../../../infra/embedded/package-manager.ts'
import { findProgram } from '../../../infra/embedded/programs.ts'
import { isRoot } from '../../../infra/embedded/unprivileged-user.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
/** Test files run in several processes, and all of them may want to install it: apt-get waits for the others. */
const LOCK_TIMEOUT_SECONDS = 600

/** The caller closes it. Chromium's sandbox does not run as root. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: await chromiumProgram(), args: isRoot() ? ['--no-sandbox'] : [] })
}

async function chromiumProgram(): Promise<string> {
  const found = installed() ?? (await install())
  if (found !== undefined) return found
  throw new Error('Chromium is missing and cannot be installed here: install it so that chromium is on the PATH.')
}

function installed(): string | undefined {
  return NAMES.map(findProgram).find((path) => path !== undefined)
}

async function install(): Promise<string | undefined> {
  const asRoot = rootPrefix()
  if (asRoot === undefined || findProgram('apt-get') === undefined) return undefined
  const aptGet = (...args: readonly string[]): Promise<void> => {
    const waiting = ['-o', `DPkg::Lock::Timeout=${LOCK_TIMEOUT_SECONDS}`, ...args]
    return runPackageManager(...prefixed(asRoot, 'apt-get', waiting), '/', () => undefined)
  }
  const packages = ['install', '-y', '--no-install-recommends', 'chromium']
  try {
    await aptGet(...packages)
  } catch {
    // The package lists may be missing or old.
    await aptGet('update')
    await aptGet(...packages)
  }
  return installed()
}
