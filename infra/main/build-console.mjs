/** Bundles the console: its script and its style sheet, in dist/console. A failed build leaves the files of the last one. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const sources = join(root, 'api', 'console')
const target = join(root, 'dist', 'console')

mkdirSync(target, { recursive: true })
const draft = mkdtempSync(join(root, 'dist', '.console-'))
try {
  await build({
    input: join(sources, 'console.tsx'),
    platform: 'browser',
    tsconfig: join(sources, 'tsconfig.json'),
    logLevel: 'warn',
    output: { dir: draft, format: 'esm', minify: true, entryFileNames: 'console.js', sourcemap: false },
  })
  const styles = join(sources, 'style')
  // Their names begin with their order.
  const sheets = readdirSync(styles)
    .filter((name) => name.endsWith('.css'))
    .toSorted()
  writeFileSync(join(draft, 'console.css'), sheets.map((name) => readFileSync(join(styles, name), 'utf8')).join('\n'))
  const names = readdirSync(draft)
  // Renaming replaces a file without a moment in which it is missing.
  for (const name of names) renameSync(join(draft, name), join(target, name))
  for (const name of readdirSync(target)) if (!names.includes(name)) rmSync(join(target, name), { recursive: true })
} finally {
  rmSync(draft, { recursive: true, force: true })
}
