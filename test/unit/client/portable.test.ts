/** The client runs in browsers: it reaches no package, no module of Node.js, and no other code of the ledger. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const CLIENT = join('api', 'client')
const SHARED = ['canonical-json', 'money', 'timestamp'].map((name) => join('actors', `${name}.ts`))
/** Bytes of the bundle, compressed by nothing. The console has it, too. */
const MOST_BYTES = 52_000

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return [...text.matchAll(/(?:from|import\(|import) '([^']+)'/g)].map(([, name = '']) =>
    name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
  )
}

test('every import of the client, direct or not, is one of its own files or a shared pure one', () => {
  const own = readdirSync(join(ROOT, CLIENT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(CLIENT, name))
  const permitted = new Set([...own, ...SHARED])
  const strangers = [...permitted].flatMap((file) => importsOf(file).filter((name) => !permitted.has(name)))
  expect(own).toContain(join(CLIENT, 'index.ts'))
  expect(strangers).toEqual([])
  expect(importsOf(join('actors', 'audit-chain.ts'))).toContain('node:crypto')
})

test('its bundle for browsers needs no other module, and is small', async () => {
  const bundle = await rolldown({ input: join(ROOT, CLIENT, 'index.ts'), platform: 'browser' })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  await bundle.close()
  expect(output).toHaveLength(1)
  expect(output[0].imports).toEqual([])
  expect(output[0].code).not.toMatch(/\b(?:Buffer|process|require)\b[.(]/)
  expect(output[0].code.length).toBeLessThan(MOST_BYTES)
})
