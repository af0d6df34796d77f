/** The metrics and labels that a PromQL expression names. */
import { parser } from '@prometheus-io/lezer-promql'

export interface NamedMetrics {
  /** Selectors without ranges and without what they exclude, such as `ledger_commits_total{result="unknown"}`. */
  readonly selectors: readonly string[]
  /** Of matchers, and of `by`, `on` and the like. */
  readonly labels: readonly string[]
}

type Node = ReturnType<typeof parser.parse>['topNode']

/** Throws if the expression cannot be parsed. */
export function namedIn(expression: string): NamedMetrics {
  const selectors: string[] = []
  const labels: string[] = []
  const text = ({ from, to }: Node): string => expression.slice(from, to)
  parser.parse(expression).iterate({
    enter: ({ type, from, node }) => {
      if (type.isError) throw new Error(`no PromQL at character ${from}: ${expression}`)
      if (type.name === 'LabelName') labels.push(text(node))
      if (type.name !== 'VectorSelector') return
      const metric = node.getChild('Identifier')
      const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []
      const wanted = matchers.filter((matcher) => !isExclusion(matcher)).map(text)
      selectors.push(`${metric === null ? '' : text(metric)}{${wanted.join(',')}}`)
    },
  })
  return { selectors, labels }
}

function isExclusion(matcher: Node): boolean {
  const operator = matcher.getChild('MatchOp')
  return (operator?.getChild('Neq') ?? operator?.getChild('NeqRegex') ?? null) !== null
}
