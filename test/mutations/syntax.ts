/** The syntax tree of a source as far as mutations need it: any node, in the order of the text. */
import { parseAst } from 'rolldown/parseAst'

/** An ESTree node. `start` and `end` are offsets in the text, in UTF-16 units. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

export function parse(text: string): SyntaxNode {
  return { ...parseAst(text, { lang: 'ts' }) }
}

/** `within`: the node's ancestors, the nearest last. */
export function visit(node: SyntaxNode, see: (node: SyntaxNode, within: readonly SyntaxNode[]) => void): void {
  walk(node, [], see)
}

function walk(
  node: SyntaxNode,
  within: readonly SyntaxNode[],
  see: (node: SyntaxNode, within: readonly SyntaxNode[]) => void,
): void {
  see(node, within)
  const inside = [...within, node]
  for (const child of childrenOf(node)) walk(child, inside, see)
}

export function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  return Object.values(node).flat().filter(isNode)
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

/** The block of a function that has one: an arrow function may have an expression only. */
export function blockOf(node: SyntaxNode): SyntaxNode | undefined {
  if (!FUNCTIONS.has(node.type)) return undefined
  const { body } = node
  return isNode(body) && (body.type === 'BlockStatement' || body.type === 'FunctionBody') ? body : undefined
}
