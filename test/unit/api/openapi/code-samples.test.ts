/** The TypeScript samples of the OpenAPI document are programs for `ledger/client`. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createOpenApiDocument } from '../../../../api/openapi/document.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..', '..')
const OPERATIONS = Object.values(createOpenApiDocument('https://ledger.example/errors').paths).flatMap((methods) =>
  Object.values(methods),
)
const SAMPLES = OPERATIONS.flatMap(({ operationId, 'x-codeSamples': samples = [] }) =>
  samples.map(({ source }) => ({ operationId, source })),
)

/** The samples are bodies of functions in one program, which has the imports. */
function withoutImports(source: string): string {
  return source.replaceAll(/^import .*$/gm, '')
}

/** The compiler's complaints about a program with the samples. */
function complaints(samples: typeof SAMPLES): string {
  // Below the root, because the compiler takes types and the client from there.
  const directory = mkdtempSync(join(ROOT, 'node_modules', '.samples-'))
  const begin = `import { type AccountKey, generateKey, LedgerClient, type SigningKey } from '${ROOT}/api/client/index.ts'
declare const ledger: LedgerClient
declare const key: SigningKey
declare const newKey: AccountKey
declare const group: { readonly group_id: string; readonly terms_hash: string }
`
  const functions = samples.map(
    ({ operationId, source }) => `export async function ${operationId}() {\n${withoutImports(source)}\n}\n`,
  )
  try {
    writeFileSync(join(directory, 'samples.ts'), begin + functions.join(''))
    const configuration = {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: { noUnusedLocals: false, lib: ['es2023', 'dom'] },
      include: ['samples.ts'],
    }
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(configuration))
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    return spawnSync(process.execPath, [compiler, '-p', directory], { encoding: 'utf8' }).stdout
  } finally {
    rmSync(directory, { recursive: true })
  }
}

test('every operation for clients has a sample, except an export and those without an example', () => {
  const withToken = OPERATIONS.filter(({ security }) => security.length > 0).map(({ operationId }) => operationId)
  const withSample = SAMPLES.map(({ operationId }) => operationId)
  expect(withToken.filter((id) => !withSample.includes(id))).toEqual(['deleteWebhook', 'getLogProof', 'createExport'])
  expect(withSample.filter((id) => !withToken.includes(id))).toEqual(['issueToken'])
})

test('samples compile against the client', () => {
  expect(complaints(SAMPLES)).toBe('')
  expect(complaints([{ operationId: 'wrong', source: "await ledger.call('getAccount')" }])).toContain('error TS')
})

test('samples sign: none has a recorded signature, except the assertion that is verified', () => {
  const recorded = SAMPLES.filter(({ source }) => /\bsignature:/.test(source))
  expect(recorded.map(({ operationId }) => operationId)).toEqual(['verifyAssertion'])
})
