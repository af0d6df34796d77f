/**
 * Writes the TypeScript of the client that follows from the OpenAPI document: a type for each schema, the types of each
 * operation, and a table of the operations.
 */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import {
  nameReferredTo,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  type SchemaObject,
} from './openapi-types.ts'

const NOTE = '/** Generated from the OpenAPI document by test/support/client-sources.ts. Do not edit. */'
const NAME = /^[A-Za-z_$][\w$]*$/
/** The module with the types. Unformatted. */
export function clientTypes(document: OpenApiDocument): string {
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => declaration(name, schema))
  const operations = operationsOf(document).map(
    ({ operation }) => `${docOf(operation.summary)}readonly ${operation.operationId}: ${operationType(operation)}`,
  )
  const codes = document['x-error-codes'].map(({ code }) => text(code)).join(' | ')
  return [
    NOTE,
    ...schemas,
    '/** A code in `error_codes` of a problem. */',
    `export type ErrorCode = ${codes}`,
    '/** Parameters, body and response of each operation. */',
    `export interface Operations { ${operations.join('\n')} }`,
  ].join('\n\n')
}

/**
 * The module with the table of operations. `key`: where the idempotency key of the request is. `items`: the member of a
 * page that has its rows. Unformatted.
 */
export function clientOperations(document: OpenApiDocument): string {
  const rows = operationsOf(document).map(({ path, method, operation }) => {
    const members = [
      `method: ${text(method.toUpperCase())}`,
      `path: ${text(path)}`,
      ...(operation.security.length === 0 ? ['open: true'] : []),
      ...keyMember(operation, document),
      ...itemsMember(operation, document),
    ]
    return `${operation.operationId}: { ${members.join(', ')} }`
  })
  return `${NOTE}\nexport const OPERATIONS = {\n${rows.join(',\n')}\n} as const\n`
}

interface PlacedOperation {
  readonly path: string
  readonly method: string
  readonly operation: OperationObject
}

/** Those that respond with JSON, or with nothing. */
function operationsOf({ paths }: OpenApiDocument): readonly PlacedOperation[] {
  return Object.entries(paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })))
    .filter(({ operation }) => replyOf(operation) !== undefined)
}

function declaration(name: string, schema: SchemaObject): string {
  const isInterface = schema['type'] === 'object' && schema['properties'] !== undefined
  const type = typeOf(schema)
  return `${docOf(schema['description'])}export ${isInterface ? `interface ${name} ${type}` : `type ${name} = ${type}`}`
}

function typeOf(schema: SchemaObject): string {
  if (schema['$ref'] !== undefined) return nameReferredTo(schema['$ref'])
  const choices = schemasIn(schema['oneOf'] ?? schema['anyOf'])
  if (choices.length > 0) return [...new Set(choices.map(typeOf))].join(' | ')
  if ('const' in schema) return text(schema['const'] ?? null)
  if (Array.isArray(schema['enum'])) return schema['enum'].map(text).join(' | ')
  const types = Array.isArray(schema['type']) ? schema['type'] : [schema['type']]
  return types.map((type) => typeNamed(type, schema)).join(' | ')
}

function typeNamed(type: Json | undefined, schema: SchemaObject): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `readonly (${typeOf(objectIn(schema['items']))})[]`
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

function objectType(schema: SchemaObject): string {
  if (schema['properties'] === undefined) {
    const values = objectIn(schema['additionalProperties'])
    return `{ readonly [name: string]: ${Object.keys(values).length === 0 ? 'unknown' : typeOf(values)} }`
  }
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const members = Object.entries(objectIn(schema['properties'])).map(([name, member]) => {
    const property = objectIn(member)
    return `${docOf(property['description'])}readonly ${memberName(name)}${required.includes(name) ? '' : '?'}: ${typeOf(property)}`
  })
  return `{ ${members.join('\n')} }`
}

function operationType(operation: OperationObject): string {
  const { parameters = [], requestBody } = operation
  const body = requestBody === undefined ? 'undefined' : typeOf(schemaIn(requestBody.content))
  return `{
    readonly path: ${parametersType(parameters, 'path')}
    readonly query: ${parametersType(parameters, 'query')}
    readonly body: ${body}
    readonly reply: ${replyOf(operation) ?? ''}
  }`
}

function parametersType(parameters: readonly ParameterObject[], place: ParameterObject['in']): string {
  const members = parameters
    .filter((parameter) => parameter.in === place)
    .map(
      ({ name, required, description, schema }) =>
        `${docOf(description)}readonly ${memberName(name)}${required === true ? '' : '?'}: ${typeOf(schema)}`,
    )
  return members.length === 0 ? 'undefined' : `{ ${members.join('\n')} }`
}

/** Undefined for an operation that responds with anything but JSON. */
function replyOf({ responses }: OperationObject): string | undefined {
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => {
      if (content === undefined) return 'undefined'
      const schema = content['application/json']?.schema
      return schema === undefined ? undefined : typeOf(schema)
    })
  return types.includes(undefined) ? undefined : [...new Set(types)].join(' | ')
}

function keyMember({ parameters = [], requestBody }: OperationObject, document: OpenApiDocument): readonly string[] {
  if (parameters.some(({ name }) => name === 'Idempotency-Key')) return [`key: 'header'`]
  if (requestBody === undefined) return []
  const isKeyed = (schema: SchemaObject): boolean =>
    schemasIn(schema['oneOf'] ?? schema['anyOf']).some((choice) => isKeyed(resolved(choice, document))) ||
    'idempotency_key' in objectIn(schema['properties'])
  return isKeyed(resolved(schemaIn(requestBody.content), document)) ? [`key: 'body'`] : []
}

function itemsMember({ responses }: OperationObject, document: OpenApiDocument): readonly string[] {
  const reply = responses['200']?.content?.['application/json']
  const properties = reply === undefined ? {} : objectIn(resolved(reply.schema, document)['properties'])
  if (!('next_page_token' in properties)) return []
  const lists = Object.keys(properties).filter((name) => objectIn(properties[name])['type'] === 'array')
  return lists.length === 1 ? [`items: ${text(lists[0] ?? '')}`] : []
}

function resolved(schema: SchemaObject, { components }: OpenApiDocument): SchemaObject {
  return schema['$ref'] === undefined ? schema : (components.schemas[nameReferredTo(schema['$ref'])] ?? {})
}

function schemaIn(content: Readonly<Record<string, { readonly schema: SchemaObject }>>): SchemaObject {
  return content['application/json']?.schema ?? {}
}

function schemasIn(value: Json | undefined): readonly SchemaObject[] {
  return Array.isArray(value) ? value.map(objectIn) : []
}

function objectIn(value: Json | undefined): JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject) : {}
}

function memberName(name: string): string {
  return NAME.test(name) ? name : text(name)
}

function text(value: Json): string {
  return JSON.stringify(value)
}

function docOf(description: Json | undefined): string {
  return typeof description === 'string'
    ? `/** ${description.replaceAll('*/', '* /').replaceAll('\n', '\n * ')} */\n`
    : ''
}
