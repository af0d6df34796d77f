/** From the description of an endpoint to the operation of the document. */
import type { GenericSchema } from 'valibot'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { invariant } from '../../actors/result.ts'
import { answersOf } from './answers.ts'
import { codeSamplesOf } from './code-samples.ts'
import type { SchemaBook } from './json-schemas.ts'
import type { OperationObject, ParameterObject } from './openapi-types.ts'
import { type Example, examplesWith } from './examples.ts'
import type { Operation, Parameter } from '../endpoint/operation.ts'
import type { Tag } from '../endpoint/route.ts'
import { PATH_PARAMETERS } from '../endpoint/parameters.ts'

/** `:name` in the path of a route, or `:name{pattern}`. */
const PATH_VALUE = /:(\w+)(?:\{[^}]*\})?/g

export function documentPath({ path }: Operation): string {
  return path.replaceAll(PATH_VALUE, '{$1}')
}

/** `examples`: those of the operation. */
export function operationObject(
  operation: Operation,
  tag: Tag,
  book: SchemaBook,
  examples: readonly Example[],
): OperationObject {
  const { body, id, description, parameters = [], path, roles, summary } = operation
  const names = [...path.matchAll(PATH_VALUE)].map(([, name = '']) => name)
  const all = [
    ...names.map((name) => pathParameter(name, book, examples)),
    ...parameters.map((one) => parameterObject(one, book, examples)),
  ]
  const samples = codeSamplesOf(operation, all, examples)
  return {
    operationId: id,
    tags: [tag.name],
    summary,
    description,
    ...(roles === null ? { security: [] } : { security: [{ bearer: [] }], 'x-roles': roles }),
    ...(all.length === 0 ? {} : { parameters: all }),
    ...(body === undefined ? {} : { requestBody: bodyObject(body, book, examples) }),
    ...(samples.length === 0 ? {} : { 'x-codeSamples': samples }),
    responses: answersOf(operation, book, examples),
  }
}

function pathParameter(name: string, book: SchemaBook, examples: readonly Example[]): ParameterObject {
  const parameter = PATH_PARAMETERS[name]
  invariant(parameter !== undefined, `the path value ${name} is described`)
  const { description, schema } = parameter
  return {
    name,
    in: 'path',
    required: true,
    description,
    schema: book.of(schema),
    ...examplesWith(examples, ({ path }) => path?.[name]),
  }
}

function parameterObject(parameter: Parameter, book: SchemaBook, examples: readonly Example[]): ParameterObject {
  const { name, description, schema, required } = parameter
  const place = parameter.in === 'query' ? 'query' : 'headers'
  const described = book.of(schema)
  return {
    name,
    in: parameter.in,
    ...(required === undefined ? {} : { required }),
    description,
    schema: described,
    ...examplesWith(examples, (example) => valueOf(example[place]?.[name], described)),
  }
}

/** Parameters are sent as text; their schemas may be of numbers. */
function valueOf(sent: string | undefined, { type }: JsonObject): string | number | undefined {
  return sent !== undefined && type === 'integer' ? Number(sent) : sent
}

function bodyObject(
  body: GenericSchema,
  book: SchemaBook,
  examples: readonly Example[],
): NonNullable<OperationObject['requestBody']> {
  const withBody = examplesWith(examples, (example) => example.body)
  return { required: true, content: { 'application/json': { schema: book.named(body), ...withBody } } }
}
