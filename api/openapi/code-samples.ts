/**
 * The TypeScript sample of each operation, for `ledger/client`: its first example as a call. The reference generates those of
 * other languages itself.
 */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import type { Operation } from '../endpoint/operation.ts'
import type { Example } from './examples.ts'
import type { CodeSample, ParameterObject } from './openapi-types.ts'

/** In samples `ledger` is a client, and `key` the key of the account that signs. */
type Sample = (example: Example) => string

/** Operations whose body the client signs, and others that have a method of the client. */
const SPECIAL: Readonly<Record<string, Sample>> = {
  issueToken: ({ body = {} }) => `import { generateKey, LedgerClient } from 'ledger/client'

const credentials = { clientId: ${literal(body['client_id'])}, clientSecret: ${literal(body['client_secret'])} }
const ledger = new LedgerClient({ url: 'http://127.0.0.1:8080', credentials })
// The key of an account, for the samples that sign.
const key = await generateKey()`,
  submitTransaction: signed('submitAndWait'),
  dryRunTransaction: signed('dryRun'),
  createHold: signed('createHold'),
  captureHold: signed('captureHold'),
  releaseHold: signed('releaseHold'),
  mintNft: signed('mintNft'),
  rotateKey: ({ path }) => `const reply = await ledger.rotateKey(${literal(path?.['accountId'])}, key, newKey)`,
  submitBatch: ({ body = {} }) => {
    const orders = (body['submissions'] as readonly JsonObject[]).map(unsigned)
    return `const orders = ${literal(orders)} as const
const submissions = await Promise.all(orders.map((order) => ledger.sign(order, key)))
const reply = await ledger.call('submitBatch', { body: { submissions } })`
  },
  declineSettlementGroup: ({ body }) =>
    `const reply = await ledger.declineGroup(group, ${literal(body?.['account_id'])}, key)`,
  createAttestation: (example) => signed('attest')(example).replace(/, key\)$/, ', { key })'),
  getLiabilityProof: ({ path }) => `const reply = await ledger.liabilityProof(${literal(path?.['accountId'])})`,
}

/** Responds with lines, which the client does not read. */
const WITHOUT_SAMPLE: readonly string[] = ['createExport']

/** `parameters`, `examples`: those of the operation. Operations outside `/v1` have no sample. */
export function codeSamplesOf(
  { id, roles }: Operation,
  parameters: readonly ParameterObject[],
  examples: readonly Example[],
): readonly CodeSample[] {
  const [example] = examples
  const isForClients = roles !== null || id === 'issueToken'
  if (!isForClients || example === undefined || WITHOUT_SAMPLE.includes(id)) return []
  return [{ lang: 'TypeScript', label: 'TypeScript', source: sourceOf(id, parameters, example) }]
}

function sourceOf(id: string, parameters: readonly ParameterObject[], example: Example): string {
  const own = SPECIAL[id]?.(example)
  if (own !== undefined) return own
  const isList = parameters.some(({ name }) => name === 'page_token')
  const request = callArguments(id, parameters, example)
  return isList
    ? `for await (const row of ledger.list(${request})) console.log(row)`
    : `const reply = await ledger.call(${request})`
}

/** A call of a method that takes the body, and signs it. */
function signed(method: string): Sample {
  return ({ body = {} }) => `const reply = await ledger.${method}(${literal(unsigned(body))}, key)`
}

/** The body without the members that the client adds. */
function unsigned({ signature: _signature, idempotency_key: _key, ...members }: JsonObject): JsonObject {
  return members
}

function callArguments(
  id: string,
  parameters: readonly ParameterObject[],
  { body, name, path, query = {} }: Example,
): string {
  const typed = Object.keys(query)
    .filter((one) => one !== 'page_token')
    .map((one) => [one, parameters.find((parameter) => parameter.name === one)?.examples?.[name]?.value ?? null])
  const request = {
    ...(path === undefined ? {} : { path }),
    ...(typed.length === 0 ? {} : { query: Object.fromEntries(typed) as JsonObject }),
    ...(body === undefined ? {} : { body }),
  }
  return Object.keys(request).length === 0 ? literal(id) : `${literal(id)}, ${literal(request)}`
}

/** JSON as TypeScript: names without quotes. */
function literal(value: Json | undefined): string {
  return JSON.stringify(value ?? null, null, 2).replaceAll(/^( *)"([A-Za-z_]\w*)":/gm, '$1$2:')
}
