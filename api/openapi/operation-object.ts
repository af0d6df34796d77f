/** From the description of an endpoint to the operation of the document. */
import type { GenericSchema } from 'valibot'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { invariant } from '../../actors/result.ts'
import { answersOf } from './answers.ts'
import type { SchemaBook } from './json-schemas.ts'
import type { OperationObject, ParameterObject, WithExamples } from './model/openapi-types.ts'
import type { Example, Operation, Parameter, Tag } from './model/operation.ts'
import { PATH_PARAMETERS } from './parameters.ts'

/** `:name` in the path of a route. */
const PATH_VALUE = /:(\w+)/g

export function documentPath({ path }: Operation): string {
  return path.replaceAll(PATH_VALUE, '{$1}')
}

export function operationObject(operation: Operation, tag: Tag, book: SchemaBook, errorBase: string): OperationObject {
  const { body, id, description, parameters = [], path, roles, summary } = operation
  const names = [...path.matchAll(PATH_VALUE)].map(([, name = '']) => name)
  const all = [
    ...names.map((name) => pathParameter(operation, name, book)),
    ...parameters.map((one) => parameterObject(operation, one, book)),
  ]
  return {
    operationId: id,
    tags: [tag.name],
    summary,
    description,
    ...(roles === null ? { security: [] } : { security: [{ bearer: [] }], 'x-roles': roles }),
    ...(all.length === 0 ? {} : { parameters: all }),
    ...(body === undefined ? {} : { requestBody: bodyObject(operation, body, book) }),
    responses: answersOf(operation, book, errorBase),
  }
}

function pathParameter(operation: Operation, name: string, book: SchemaBook): ParameterObject {
  const parameter = PATH_PARAMETERS[name]
  invariant(parameter !== undefined, `the path value ${name} is described`)
  const { description, schema } = parameter
  return {
    name,
    in: 'path',
    required: true,
    description,
    schema: book.of(schema),
    ...examplesWith(operation, ({ path }) => path?.[name]),
  }
}

function parameterObject(operation: Operation, parameter: Parameter, book: SchemaBook): ParameterObject {
  const { name, description, schema } = parameter
  const place = parameter.in === 'query' ? 'query' : 'headers'
  const described = book.of(schema)
  return {
    name,
    in: parameter.in,
    description,
    schema: described,
    ...examplesWith(operation, (example) => valueOf(example[place]?.[name], described)),
  }
}

/** Parameters are sent as text; their schemas may be of numbers. */
function valueOf(sent: string | undefined, { type }: JsonObject): string | number | undefined {
  return sent !== undefined && type === 'integer' ? Number(sent) : sent
}

function bodyObject(
  operation: Operation,
  body: GenericSchema,
  book: SchemaBook,
): NonNullable<OperationObject['requestBody']> {
  const examples = examplesWith(operation, (example) => example.body)
  return { required: true, content: { 'application/json': { schema: book.named(body), ...examples } } }
}

/** The examples that have the value, by their names. */
function examplesWith(
  { examples }: Operation,
  valueOf: (example: Example) => string | number | JsonObject | undefined,
): WithExamples {
  const found = Object.entries(examples).flatMap(([name, example]) => {
    const value = valueOf(example)
    return value === undefined ? [] : [[name, { summary: example.summary, value }] as const]
  })
  return found.length === 0 ? {} : { examples: Object.fromEntries(found) }
}
