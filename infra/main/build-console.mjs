/** Bundles the console: its script and its style sheet, in dist/console. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const sources = join(root, 'api', 'console')
const target = join(root, 'dist', 'console')

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
await build({
  input: join(sources, 'console.tsx'),
  platform: 'browser',
  tsconfig: join(sources, 'tsconfig.json'),
  logLevel: 'warn',
  output: { dir: target, format: 'esm', minify: true, entryFileNames: 'console.js', sourcemap: false },
})
const styles = join(sources, 'style')
// Their names begin with their order.
const sheets = readdirSync(styles)
  .filter((name) => name.endsWith('.css'))
  .toSorted()
writeFileSync(join(target, 'console.css'), sheets.map((name) => readFileSync(join(styles, name), 'utf8')).join('\n'))
