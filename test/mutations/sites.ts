/** Where a source can be mutated: single small changes, of which a test should notice each. */
import { blockOf, isNode, parse, type SyntaxNode, visit } from './syntax.ts'

export const OPERATORS = ['boundary', 'comparison', 'condition', 'statement', 'arguments', 'sql'] as const
export type Operator = (typeof OPERATORS)[number]

export interface Site {
  readonly operator: Operator
  /** Offsets in the text. */
  readonly start: number
  readonly end: number
  readonly replacement: string
}

const BOUNDARIES: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const COMPARISONS: Readonly<Record<string, string>> = { '===': '!==', '!==': '===' }

/** Calls that log, count or print: they are not mutated. */
const TOLD = /^(?:this\.)?(?:\w+\.)*(?:log|metrics|process|io)\.|^say\(|^progress\b/

export function sitesIn(text: string): readonly Site[] {
  const sites: Site[] = []
  visit(parse(text), (node, within) => {
    if (within.some((around) => around.type.startsWith('TS') && !PASSED.has(around.type))) return
    if (within.some((around) => around.type === 'ThrowStatement' || isTold(around, text))) return
    sites.push(...sitesOf(node, text))
  })
  return sites
}

/** Nodes of TypeScript that hold an expression. */
const PASSED = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'])

function isTold(node: SyntaxNode, text: string): boolean {
  return node.type === 'ExpressionStatement' && TOLD.test(text.slice(node.start, node.end))
}

function sitesOf(node: SyntaxNode, text: string): readonly Site[] {
  switch (node.type) {
    case 'BinaryExpression':
      return comparisonSites(node, text)
    case 'IfStatement':
    case 'ConditionalExpression':
      return ['true', 'false'].map((value) => replaced('condition', field(node, 'test'), value))
    case 'LogicalExpression':
      return [field(node, 'left'), field(node, 'right')].map((kept) =>
        replaced('condition', node, text.slice(kept.start, kept.end)),
      )
    case 'ExpressionStatement':
      return isTold(node, text) ? [] : [replaced('statement', node, ';')]
    case 'CallExpression':
    case 'NewExpression':
      return argumentSites(node, text)
    case 'TemplateElement':
      return sqlSites(node.start, text.slice(node.start, node.end))
    default:
      return []
  }
}

function field(node: SyntaxNode, name: string): SyntaxNode {
  const found = node[name]
  if (!isNode(found)) throw new Error(`${node.type} has no ${name}`)
  return found
}

function replaced(operator: Operator, { start, end }: SyntaxNode, replacement: string): Site {
  return { operator, start, end, replacement }
}

function comparisonSites(node: SyntaxNode, text: string): readonly Site[] {
  const sign = String(node['operator'])
  const other = BOUNDARIES[sign] ?? COMPARISONS[sign]
  if (other === undefined) return []
  const [left, right] = [field(node, 'left'), field(node, 'right')]
  const start = left.end + text.slice(left.end, right.start).indexOf(sign)
  const operator = sign in BOUNDARIES ? 'boundary' : 'comparison'
  return [{ operator, start, end: start + sign.length, replacement: other }]
}

/** Neighbors that are names: of literals and functions the types tell most. */
function argumentSites(node: SyntaxNode, text: string): readonly Site[] {
  const given = (node['arguments'] as readonly SyntaxNode[]).filter(isNode)
  return given.slice(1).flatMap((second, index) => {
    const first = given[index]
    if (first === undefined || !isName(first) || !isName(second)) return []
    const [one, other] = [first, second].map(({ start, end }) => text.slice(start, end))
    const between = text.slice(first.end, second.start)
    if (one === other) return []
    return [{ operator: 'arguments', start: first.start, end: second.end, replacement: `${other}${between}${one}` }]
  })
}

function isName({ type }: SyntaxNode): boolean {
  return type === 'Identifier' || type === 'MemberExpression'
}

const SQL = /\b(?:SELECT|UPDATE|DELETE FROM|INSERT INTO|WHERE|ON CONFLICT)\b/
/** Conditions and locks: each with the text that takes its place. */
const SQL_PARTS: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/\bAND (?!CASE)[^()\n]+?(?= AND | OR |\)|\n|$)/g, () => ''],
  [/ (?:<=|>=) /g, (found) => found.replace('=', '')],
  [/ (?:<|>) /g, (found) => `${found.trimEnd()}= `],
  [/ FOR (?:UPDATE|SHARE)(?: SKIP LOCKED| NOWAIT)?/g, () => ''],
  [/ SKIP LOCKED/g, () => ''],
  [/ IS NOT NULL/g, () => ' IS NULL'],
  [/ DESC\b/g, () => ''],
  [/ DISTINCT\b/g, () => ''],
]

function sqlSites(offset: number, text: string): readonly Site[] {
  if (!SQL.test(text)) return []
  return SQL_PARTS.flatMap(([part, instead]) =>
    [...text.matchAll(part)].map(({ 0: found, index }): Site => {
      const start = offset + index
      return { operator: 'sql', start, end: start + found.length, replacement: instead(found) }
    }),
  )
}

/** The functions with a block around a place, the nearest last, by the offset of their blocks. */
export function functionsAround(text: string, offset: number): readonly number[] {
  const found: number[] = []
  visit(parse(text), (node) => {
    const block = blockOf(node)
    if (block !== undefined && block.start < offset && offset < block.end) found.push(block.start)
  })
  return found
}

/** The text with a call at the beginning of each function that has a block: it tells that the function was reached. */
export function instrumented(text: string, file: string): string {
  const starts: number[] = []
  visit(parse(text), (node) => {
    const block = blockOf(node)
    if (block !== undefined) starts.push(block.start)
  })
  let result = text
  for (const start of starts.toSorted((one, other) => other - one)) {
    const call = ` globalThis.__reached?.add(${JSON.stringify(`${file}:${start}`)});`
    result = `${result.slice(0, start + 1)}${call}${result.slice(start + 1)}`
  }
  return result
}
