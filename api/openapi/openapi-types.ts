/** The parts of OpenAPI 3.1 that the document uses. All are JSON. */
import type { Role } from '../../actors/account/commands.ts'
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import type { ErrorCode } from '../http/problem.ts'

export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: {
    readonly title: string
    readonly version: string
    readonly summary: string
    readonly description: string
    readonly contact: { readonly name: string }
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  /** By path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaObject>>
    readonly headers: Readonly<Record<string, { readonly description: string; readonly schema: SchemaObject }>>
    readonly securitySchemes: JsonObject
  }
  readonly 'x-error-codes': readonly {
    readonly code: ErrorCode
    readonly status: number
    readonly meaning: string
  }[]
  /** The examples in the order in which they can be sent to a new ledger; `role`: null where no token is needed. */
  readonly 'x-walkthrough': readonly {
    readonly operationId: string
    readonly example: string
    readonly role: Role | null
  }[]
}

/** JSON Schema, 2020-12. */
export type SchemaObject = JsonObject

export interface OperationObject {
  readonly operationId: string
  readonly tags: readonly [string]
  readonly summary: string
  readonly description: string
  readonly security: readonly { readonly bearer: readonly [] }[]
  readonly 'x-roles'?: readonly Role[]
  readonly parameters?: readonly ParameterObject[]
  readonly requestBody?: { readonly required: true; readonly content: Content }
  /** Requests of the operation in programming languages. */
  readonly 'x-codeSamples'?: readonly CodeSample[]
  /** By status. */
  readonly responses: Readonly<Record<string, ResponseObject>>
}

export interface CodeSample {
  readonly lang: string
  readonly label: string
  readonly source: string
}

export interface ParameterObject extends WithExamples {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: true
  readonly description: string
  readonly schema: SchemaObject
}

export interface ResponseObject {
  readonly description: string
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>
  readonly content?: Content
}

/** By media type. */
export type Content = Readonly<Record<string, MediaObject>>

export interface MediaObject extends WithExamples {
  readonly schema: SchemaObject
  /** Of lines of JSON, what each of them is: what OpenAPI 3.2 calls `itemSchema`. */
  readonly 'x-itemSchema'?: SchemaObject
}

export interface WithExamples {
  /** By name. */
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: Json }>>
}

/** The name that a reference to a schema of the document has. */
export function referenceTo(name: string): string {
  return `#/components/schemas/${name}`
}

export function nameReferredTo(reference: Json | undefined): string {
  return typeof reference === 'string' ? (reference.split('/').at(-1) ?? '') : ''
}
