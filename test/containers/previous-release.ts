/** The image from which the upgrade starts. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildImage, execute, succeed } from './engine.ts'

/** The base tables, and the entries that the log has of them. Both may change until their release. */
const UNSTABLE = ['infra/postgres/migrations', 'infra/log/log-rows.ts']

/**
 * `PREVIOUS_IMAGE`, or the image built from `PREVIOUS_REF`. By default from the last release before this commit; while no
 * release is tagged, from the last commit that changed the tables or their entries in the log.
 */
export async function previousImage(tag: string): Promise<{ readonly image: string; readonly origin: string }> {
  const given = process.env['PREVIOUS_IMAGE']
  if (given !== undefined) return { image: given, origin: given }
  const origin = process.env['PREVIOUS_REF'] ?? (await lastRelease()) ?? (await lastUnstable())
  const checkout = mkdtempSync(join(tmpdir(), 'ledger-previous-'))
  try {
    const archive = join(checkout, 'source.tar')
    await succeed('git', ['archive', '--output', archive, origin])
    await succeed('tar', ['-xf', archive, '-C', checkout])
    rmSync(archive)
    await buildImage(checkout, tag)
  } finally {
    rmSync(checkout, { recursive: true, force: true })
  }
  return { image: tag, origin }
}

async function lastRelease(): Promise<string | undefined> {
  const { exitCode, stdout } = await execute('git', ['describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD~1'])
  return exitCode === 0 ? stdout.trim() : undefined
}

async function lastUnstable(): Promise<string> {
  return (await succeed('git', ['log', '-1', '--format=%H', '--', ...UNSTABLE])).trim()
}
