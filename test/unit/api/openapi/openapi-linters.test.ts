/** Common linters of OpenAPI find no error in the document. */
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { expect, test } from 'vitest'
import { createOpenApiDocument } from '../../../../api/openapi/document.ts'

const SOURCE = JSON.stringify(createOpenApiDocument('https://ledger.example/errors'))

/** Exceptions of style: public routes have no 4xx, an extension describes lines, and literal segments come first. */
const ACCEPTED_WARNINGS = new Set(['operation-4xx-response', 'no-unused-components', 'no-ambiguous-paths'])

async function redoclyFindings(source: string): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config })
  return problems
    .filter(({ ruleId, severity }) => severity === 'error' || !ACCEPTED_WARNINGS.has(ruleId))
    .map(({ location, message, ruleId }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ''})`)
}

async function spectralFindings(source: string): Promise<readonly string[]> {
  const spectral = new spectralCore.Spectral()
  // The types of its packages are inconsistent.
  const oas: object = rulesets.oas
  spectral.setRuleset({ extends: [[oas as RulesetDefinition, 'recommended']] })
  const problems = await spectral.run(source)
  return problems.map(({ code, message, path }) => `${code}: ${message} (${path.join('/')})`)
}

test.for([
  ['Redocly', redoclyFindings],
  ['Spectral', spectralFindings],
] as const)('%s finds no error, and finds a deliberate one', async ([, findings]) => {
  expect(await findings(SOURCE)).toEqual([])
  const document = JSON.parse(SOURCE) as { info: object; paths: Record<string, object> }
  const broken = { ...document, paths: { '/x': { get: { operationId: 'x', responses: { 200: { description: 7 } } } } } }
  expect((await findings(JSON.stringify(broken))).length).toBeGreaterThan(0)
})
