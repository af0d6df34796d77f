/** JSON Schema as a person reads it: the type of a value in a few words, an object as a table of its fields. */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import { nameReferredTo } from '../openapi/openapi-types.ts'
import { html, inline, joinMarkup, type Markup, NOTHING } from './page-markup.ts'

/** The type of a value in words: `AccountId`, `one of a, b`, `array of Leg`. */
export function typeOf(schema: JsonObject): Markup {
  const { $ref: reference, anyOf, const: only, enum: values, items, oneOf } = schema
  if (typeof reference === 'string') return schemaLink(reference)
  if (only !== undefined) return html`<code>${JSON.stringify(only)}</code>`
  if (Array.isArray(values)) {
    return joinMarkup(
      (values as readonly Json[]).map((value) => html`<code>${JSON.stringify(value)}</code>`),
      ' | ',
    )
  }
  for (const choice of [anyOf, oneOf]) {
    if (Array.isArray(choice)) return joinMarkup((choice as readonly JsonObject[]).map(typeOf), ' or ')
  }
  if (items !== undefined) return html`array of ${typeOf(items as JsonObject)}`
  const { type = 'any', format, pattern } = schema
  const name = Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'any'
  return html`${name}${typeof format === 'string' ? html` (${format})` : NOTHING}${
    typeof pattern === 'string' ? html` <code class="pattern">${pattern}</code>` : NOTHING
  }${boundsOf(schema)}`
}

function boundsOf(schema: JsonObject): Markup {
  const { default: usual, format, minimum, maximum, minLength, maxLength } = schema
  // A timestamp's format implies its length.
  const lengths = format === undefined ? rangeOf(minLength, maxLength, ' characters') : []
  const defaults = typeof usual === 'number' || typeof usual === 'string' ? [`default ${usual}`] : []
  return html`${[...rangeOf(minimum, maximum, ''), ...lengths, ...defaults].map((bound) => html`, ${bound}`)}`
}

/** `1 to 64 characters`, `at least 0`. */
function rangeOf(least: Json | undefined, most: Json | undefined, unit: string): readonly string[] {
  const [low, high] = [typeof least === 'number' ? least : null, typeof most === 'number' ? most : null]
  if (low !== null && high !== null) return [`${low === high ? low : `${low} to ${high}`}${unit}`]
  if (low !== null) return [`at least ${low}${unit}`]
  return high === null ? [] : [`at most ${high}${unit}`]
}

/** The fields of an object; a field that is an object without a name is a table within the table. */
export function fieldsOf(schema: JsonObject): Markup {
  const { properties, required = [] } = schema
  if (!isObject(properties)) return NOTHING
  const rows = Object.entries(properties).map(([name, field]) => {
    const { description } = field as JsonObject
    const needed = (required as readonly Json[]).includes(name)
    return html`<tr>
      <td><code>${name}</code>${needed ? NOTHING : html` <small>optional</small>`}</td>
      <td>${typeOf(field as JsonObject)}</td>
      <td>${typeof description === 'string' ? inline(description) : NOTHING}${nestedFields(field as JsonObject)}</td>
    </tr>`
  })
  return html`<table>
    <thead>
      <tr>
        <th>Field</th>
        <th>Type</th>
        <th>Meaning</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`
}

function nestedFields(field: JsonObject): Markup {
  const { items } = field
  return fieldsOf(isObject(items) ? items : field)
}

export function schemaLink(reference: string): Markup {
  const name = nameReferredTo(reference)
  return html`<a href="#schema-${name}">${name}</a>`
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
