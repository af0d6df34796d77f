/** Y2: the launcher never generates existing secrets again, even if their file is unreadable. */
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Configuration } from '../../../infra/config/configuration.ts'
import { startClients } from '../../../infra/launcher/bootstrap-clients.ts'

let dataDir: string
let file: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'ledger-clients-'))
  file = join(dataDir, 'clients.json')
})

afterEach(() => rmSync(dataDir, { recursive: true }))

function started() {
  return startClients({ dataDir, bootstrapClients: undefined } as Configuration)
}

test('clients are generated once, in a file that only its owner can read', () => {
  const made = started()
  expect(made.clients.length).toBeGreaterThan(0)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(made.made).toBe(true)
  expect(started()).toEqual({ ...made, made: false })
})

test('an unreadable file is not replaced', () => {
  symlinkSync(file, file)
  expect(started).toThrow('ELOOP')
})

test.for([
  ['cut short', (text: string) => text.slice(0, -20)],
  ['of another form', (text: string) => text.replace('client_secret', 'secret')],
] as const)('a file that is %s is an error without its contents', ([, damage]) => {
  started()
  const damaged = damage(readFileSync(file, 'utf8'))
  writeFileSync(file, damaged)
  expect(started).toThrow(new Error(`${file} is damaged: remove it to have new clients made`))
  expect(readFileSync(file, 'utf8')).toBe(damaged)
})
