/**
 * The generated sources of the client, formatted: path below the repository -> text.
 * `LEDGER_GENERATE_CLIENT=1 npx vitest run test/unit/client/generated.test.ts` writes them.
 */
import { format } from 'oxfmt'
import { clientOperations, clientTypes } from '../../api/openapi/client-types.ts'
import { createOpenApiDocument } from '../../api/openapi/document.ts'

const FORMAT = { printWidth: 120, semi: false, singleQuote: true, trailingComma: 'all' } as const

export async function clientSources(): Promise<ReadonlyMap<string, string>> {
  const document = createOpenApiDocument('https://ledger.example/errors')
  const sources = { 'api-types.ts': clientTypes(document), 'operations.ts': clientOperations(document) }
  const formatted = Object.entries(sources).map(async ([name, source]) => {
    const { code, errors } = await format(name, source, FORMAT)
    if (errors.length > 0) throw new Error(`${name}: ${JSON.stringify(errors)}`)
    return [`api/client/generated/${name}`, code] as const
  })
  return new Map(await Promise.all(formatted))
}
