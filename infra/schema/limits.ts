/**
 * The bounds on schemas and on the work that they make. Each is far above what describes an asset, and below what a
 * worker does within its time and memory: nearly every answer hangs on these counts, and not on how busy the machine is.
 */

/** Of the schema as canonical JSON, in UTF-8. */
export const MAX_SCHEMA_BYTES = 65_536
/** Schemas within the schema. Reading the code that is made of more of them takes V8 too long. */
export const MAX_SUBSCHEMAS = 500
/** Schemas when each `$ref` is replaced by what it refers to; one that leads back into itself is not followed again. */
export const MAX_EXPANDED_SUBSCHEMAS = 20_000
/** How deep schemas nest then. */
export const MAX_EXPANDED_DEPTH = 64
/** Instructions of the patterns of a schema, all together, once repetitions are written out. */
export const MAX_PATTERN_COST = 20_000
/** Of one value. */
export const MAX_ERRORS = 100
/** Code points. */
export const MAX_PATH_LENGTH = 256
export const MAX_MESSAGE_LENGTH = 256
/** Steps of one validation: at most about 0.2 µs each, so that they end within a third of a worker's CPU time. */
export const MAX_STEPS = 3_000_000
