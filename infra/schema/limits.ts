/**
 * The bounds on schemas and on their validation. Each is far above the needs of an asset's metadata, and below the time and
 * memory of a worker. Thus counts decide nearly every reply, whatever the load of the machine.
 */

/** Size of a schema as canonical JSON, in UTF-8. */
export const MAX_SCHEMA_BYTES = 65_536
/** Subschemas of a schema, itself included. */
export const MAX_SUBSCHEMAS = 500
/** Subschemas after each `$ref` is replaced by its target. A recursive reference is not followed again. */
export const MAX_EXPANDED_SUBSCHEMAS = 20_000
/** Nesting of subschemas after each `$ref` is replaced. */
export const MAX_EXPANDED_DEPTH = 64
/** RE2 instructions of all patterns of a schema, with repetitions written out. */
export const MAX_PATTERN_COST = 20_000
/** Errors reported for a value. */
export const MAX_ERRORS = 100
/** Code points. */
export const MAX_PATH_LENGTH = 256
export const MAX_MESSAGE_LENGTH = 256
/** Steps of one validation: at most about 0.2 µs each, so that they end within a third of a worker's CPU time. */
export const MAX_STEPS = 3_000_000
