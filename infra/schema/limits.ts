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
/** Collected before the repeated ones are dropped; where there are more, the first is told and nothing else. */
export const MAX_COLLECTED_ERRORS = 2_000
/** Of alternatives that were tried in vain, in the pass that only says yes or no. */
export const MAX_PASSING_ERRORS = 50_000
/** Code points. */
export const MAX_PATH_LENGTH = 256
export const MAX_MESSAGE_LENGTH = 256
/** Steps of one validation: about 50 ns each. See `Fuel`. */
export const MAX_STEPS = 4_000_000
