/** One endpoint as a person reads it. */
import type { Json } from '../../actors/canonical-json.ts'
import { LINES_TYPE } from '../endpoint/transaction-lines.ts'
import {
  type MediaObject,
  nameReferredTo,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  type ResponseObject,
  type SchemaObject,
} from '../openapi/openapi-types.ts'
import { html, inline, joinMarkup, type Markup, NOTHING, prose } from './page-markup.ts'
import { fieldsOf, schemaLink, typeOf } from './page-schemas.ts'

export interface PlacedOperation {
  /** Upper case. */
  readonly method: string
  readonly path: string
  readonly operation: OperationObject
}

export type Schemas = OpenApiDocument['components']['schemas']

export function operationMarkup(placed: PlacedOperation, schemas: Schemas): Markup {
  const { method, path, operation } = placed
  const { operationId, summary, description, parameters = [], requestBody, responses, 'x-roles': roles } = operation
  const body = requestBody?.content['application/json']?.schema
  return html`<section id="${operationId}">
    <h3><span class="method">${method}</span> <code>${path}</code></h3>
    <p>
      ${inline(summary)}.
      <span class="quiet">${roles === undefined ? 'Needs no token.' : `Roles: ${roles.join(', ')}.`}</span>
    </p>
    ${prose(description)} ${parametersOf(parameters)} ${body === undefined ? NOTHING : bodyOf(body, schemas)}
    <h4>Answers</h4>
    <table>
      <tbody>
        ${Object.entries(responses).map(([status, response]) => answerRow(status, response))}
      </tbody>
    </table>
    ${examplesOf(placed)}
  </section>`
}

function bodyOf(body: SchemaObject, schemas: Schemas): Markup {
  return html`<h4>Body</h4>
    <p>${typeOf(body)}</p>
    ${fieldsOf(schemas[nameReferredTo(body['$ref'])] ?? {})}`
}

function parametersOf(parameters: readonly ParameterObject[]): Markup {
  if (parameters.length === 0) return NOTHING
  const rows = parameters.map(
    (parameter) =>
      html`<tr>
        <td><code>${parameter.name}</code> <small>${parameter.in}</small></td>
        <td>${typeOf(parameter.schema)}</td>
        <td>${inline(parameter.description)}</td>
      </tr>`,
  )
  return html`<h4>Parameters</h4>
    <table>
      <tbody>
        ${rows}
      </tbody>
    </table>`
}

function answerRow(status: string, { content = {}, description, headers }: ResponseObject): Markup {
  const shown = Object.entries(content).map(([mediaType, media]) => contentLink(mediaType, media))
  const names = Object.keys(headers).map((name) => html` <code>${name}</code>`)
  return html`<tr>
    <td><strong>${status}</strong></td>
    <td>${joinMarkup(shown, ' or ')}</td>
    <td>${prose(description)}<small>Headers:${names}</small></td>
  </tr>`
}

/** Of a problem, what all problems are. */
function contentLink(mediaType: string, { schema, 'x-itemSchema': item }: MediaObject): Markup {
  if (item !== undefined) return html`${mediaType}, each line ${contentLink(mediaType, { schema: item })}`
  const [{ $ref: reference } = schema] = (schema['allOf'] ?? [schema]) as readonly SchemaObject[]
  return typeof reference === 'string' ? schemaLink(reference) : html`${mediaType}`
}

/** Each example, request and answer under one name. */
function examplesOf({ method, path, operation }: PlacedOperation): Markup {
  const { operationId, requestBody } = operation
  const bodies = requestBody?.content['application/json']?.examples ?? {}
  const shown = answerExamples(operation).map(({ name, status, summary, value }) => {
    const body = bodies[name]?.value
    const request = requestText({ method, path, operation }, name)
    // Browsers open the element for a link to something within it, and not for a link to itself.
    return html`<details>
      <summary>Example: ${inline(summary)} <span class="quiet">${status}</span></summary>
      <pre id="${operationId}-${name}">${body === undefined ? request : `${request}\n\n${pretty(body)}`}</pre>
      <pre>${pretty(value)}</pre>
    </details>`
  })
  return html`${shown}`
}

interface AnswerExample {
  readonly name: string
  readonly status: string
  readonly mediaType: string
  readonly summary: string
  readonly value: Json
}

export function answerExamples({ responses }: OperationObject): readonly AnswerExample[] {
  return Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Object.entries(content).flatMap(([mediaType, { examples = {} }]) =>
      Object.entries(examples).map(([name, example]) => ({ name, status, mediaType, ...example })),
    ),
  )
}

/** The request line of an example, and its headers below. */
export function requestText({ method, path, operation }: PlacedOperation, name: string): string {
  let target = path
  const query: string[] = []
  const { mediaType } = answerExamples(operation).find((example) => example.name === name) ?? {}
  const headers = mediaType === LINES_TYPE ? [`Accept: ${LINES_TYPE}`] : []
  for (const parameter of operation.parameters ?? []) {
    const example = parameter.examples?.[name]?.value
    if (typeof example !== 'string' && typeof example !== 'number') continue
    const value = String(example)
    if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, value)
    else if (parameter.in === 'query') query.push(`${parameter.name}=${encodeURIComponent(value)}`)
    else headers.push(`${parameter.name}: ${value}`)
  }
  const line = `${method} ${target}${query.length === 0 ? '' : `?${query.join('&')}`}`
  return [line, ...headers].join('\n')
}

/** Text stays as it is; other values become JSON. */
function pretty(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
