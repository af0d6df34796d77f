/** `npm run release`, as far as it needs no server; `integration/postgres/release-command.full.test.ts` makes a release in a clone. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from '../../support/processes/cluster-process.ts'

function release(...args: string[]): { readonly exitCode: number | null; readonly printed: string } {
  const program = join(projectRoot(), 'infra', 'main', 'release.mjs')
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
  return { exitCode: status, printed: stderr }
}

test('every file has the version of package.json', () => {
  expect(release('--check')).toEqual({ exitCode: 0, printed: '' })
})

test.for([
  [[], 'a version is missing'],
  [['0.8'], 'a version is MAJOR.MINOR.PATCH, not 0.8'],
  [['0.8.0', '--push'], 'unknown argument --push'],
] as const)('the arguments %j are wrong', ([args, reason]) => {
  const { exitCode, printed } = release(...args)
  expect(exitCode).toBe(2)
  expect(printed).toMatch(new RegExp(`^${reason}\\n\\nUsage: npm run release`))
})
