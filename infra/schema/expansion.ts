/**
 * Bounds the schema after each `$ref` is replaced by its target, because a few lines can expand to any number of schemas.
 * A recursive schema is legal and counts once, because the depth of the value bounds it. But a schema that applies itself
 * to the same value would never end.
 */
import { refuse, ok, type Result } from '../../actors/result.ts'
import { MAX_EXPANDED_DEPTH, MAX_EXPANDED_SUBSCHEMAS } from './limits.ts'
import { at, type SchemaNode } from './schema-tree.ts'

interface Extent {
  readonly count: number
  readonly depth: number
}

const ONE: Extent = { count: 1, depth: 1 }

/** The error is the reason for the refusal, as a sentence. */
export function checkExpansion(root: SchemaNode): Result<null, string> {
  const endless = findEndless(root)
  if (endless !== undefined) return refuse(`${at(endless.path)} refers to itself without end.`)
  const { count, depth } = extentOf(root, new Map())
  if (depth > MAX_EXPANDED_DEPTH) {
    return refuse(`With each $ref in place its schemas nest deeper than ${MAX_EXPANDED_DEPTH} levels.`)
  }
  if (count > MAX_EXPANDED_SUBSCHEMAS) {
    return refuse(`With each $ref in place it has more than ${MAX_EXPANDED_SUBSCHEMAS} schemas in it.`)
  }
  return ok(null)
}

/** `known` has null for a node in progress. Stops soon after it exceeds a bound. */
function extentOf(node: SchemaNode, known: Map<SchemaNode, Extent | null>, level = 1): Extent {
  const found = known.get(node)
  if (found !== undefined) return found ?? ONE
  if (level > MAX_EXPANDED_DEPTH) return { count: 1, depth: 2 }
  known.set(node, null)
  let count = 1
  let depth = 0
  for (const next of appliedBy(node)) {
    const extent = extentOf(next, known, level + 1)
    count += extent.count
    depth = Math.max(depth, extent.depth)
  }
  const extent = { count: Math.min(count, MAX_EXPANDED_SUBSCHEMAS + 1), depth: depth + 1 }
  known.set(node, extent)
  return extent
}

function appliedBy({ inside, target }: SchemaNode): readonly SchemaNode[] {
  const nodes = inside.flatMap(({ applies, node }) => (applies === 'nowhere' ? [] : [node]))
  return target === null ? nodes : [...nodes, target]
}

/** Finds a schema that applies itself to the same value. */
function findEndless(root: SchemaNode): SchemaNode | undefined {
  const done = new Set<SchemaNode>()
  const open = new Set<SchemaNode>()
  const visit = (node: SchemaNode): SchemaNode | undefined => {
    if (open.has(node)) return node
    if (done.has(node)) return undefined
    open.add(node)
    for (const { applies, node: inner } of node.inside) {
      const found = applies === 'here' ? visit(inner) : undefined
      if (found !== undefined) return found
    }
    const found = node.target === null ? undefined : visit(node.target)
    open.delete(node)
    done.add(node)
    return found
  }
  return [...reachable(root)].map(visit).find((node) => node !== undefined)
}

function reachable(root: SchemaNode): ReadonlySet<SchemaNode> {
  const found = new Set([root])
  for (const node of found) for (const next of appliedBy(node)) found.add(next)
  return found
}
