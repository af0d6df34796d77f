/** A program of the ledger, compiled with all that it imports and nothing else, for tests that run it as a process. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface BuiltProgram {
  readonly path: string
  readonly remove: () => void
}

const ROOT = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))))
/** Types are checked with those of the whole project. */
const OPTIONS = ['--target', 'es2023', '--lib', 'es2023', '--module', 'nodenext', '--types', 'node', '--noCheck']
const PATHS = ['--rootDir', '.', '--rewriteRelativeImportExtensions', '--ignoreConfig', '--resolveJsonModule']

/** The compiler follows imports; this file is read at run time. */
const DATA = 'api/openapi/examples.json'

/** `source`: its path below the root. */
export function buildProgram(source: string): BuiltProgram {
  // Below the root, so that it finds the packages.
  const dist = join(ROOT, 'dist')
  mkdirSync(dist, { recursive: true })
  const directory = mkdtempSync(join(dist, '.program-'))
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  const args = [compiler, ...OPTIONS, ...PATHS, '--outDir', directory, source, DATA]
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  const remove = (): void => rmSync(directory, { recursive: true, force: true })
  if (status !== 0) {
    remove()
    throw new Error(`${source} does not compile:\n${stdout}`)
  }
  return { path: join(directory, source.replace(/\.ts$/, '.js')), remove }
}
