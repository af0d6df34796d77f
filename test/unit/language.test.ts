/**
 * Comments, errors and titles of tests have subjects: no sentence begins with "What" or "Who", unless it is a question, and
 * none is about an unnamed person.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
/** In quotes alone it is an ID: of a client, an account or a user of the system. */
const PERSONS = /\b(whoever|somebody|nobody|what becomes of)\b/i
const IDS = /['"/=:_.](nobody|somebody)\b|\b(nobody|somebody)(?=[-@/:'])/gi
const OPENINGS = /(\/\*\*|^\s*\*|\/\/|['"`]|\. ) ?(What|Who) [a-z][^?]*$/

const sources = ['actors', 'runtime', 'api', 'infra', 'test'].flatMap((top) =>
  readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
    .filter(
      (file) =>
        /\.(tsx?|mjs)$/.test(file) && !file.includes('json-schema-test-suite') && file !== 'unit/language.test.ts',
    )
    .map((file) => join(top, file)),
)

function isPlain(line: string): boolean {
  return !PERSONS.test(line.replaceAll(IDS, '')) && !OPENINGS.test(line)
}

test('a line is plain if its sentences have subjects', () => {
  expect(isPlain('/** The last owner; null: the shard has none. */')).toBe(true)
  expect(isPlain('/** What an account holds. */')).toBe(false)
  expect(isPlain('// It belongs to nobody.')).toBe(false)
  expect(isPlain("expect(await client.get('/v1/accounts/nobody')).toBe(404)")).toBe(true)
})

test('every line of the project is plain', () => {
  const faults = sources.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (isPlain(line) ? [] : [`${file}:${index + 1}: ${line.trim()}`])),
  )
  expect(sources.length).toBeGreaterThan(1_000)
  expect(faults).toEqual([])
})
