/**
 * Evaluates a value against a schema tree (2020-12, Core, 10 and 11).
 *   V1. Each evaluation is counted in steps before it starts.
 *   V2. `unevaluated…` sees the members and items that its own schema evaluated, and those of the subschemas that it
 *       applied to the same value. An alternative counts only if the value satisfies it.
 */
import type { Json } from '../../actors/canonical-json.ts'
import type { ValueError } from '../../runtime/ports/schema-validator.ts'
import { assertionOf, type AssertionContext } from './assertions.ts'
import { type Dialect, isList, isObject, keywordOf } from './dialect.ts'
import { ErrorList, memberPath } from './error-list.ts'
import { MAX_ERRORS, MAX_STEPS } from './limits.ts'
import type { SchemaNode } from './schema-tree.ts'
import { StepsExhausted } from './steps.ts'

const STEPS_PER_ERROR = 16
const STEPS_PER_MEMBER = 6
/** Further cost of a member or item whose evaluation is noted. */
const STEPS_PER_EVALUATED_KEY = 6
/** An error that is copied to the list of the schema around. */
const STEPS_PER_COPIED_ERROR = 2

/** Names of members or indices of items. */
class EvaluatedKeys {
  private all = false
  private readonly keys = new Set<string | number>()

  add(key: string | number): void {
    this.keys.add(key)
  }

  get size(): number {
    return this.keys.size
  }

  addEvery(): void {
    this.all = true
  }

  addAll(other: EvaluatedKeys): void {
    this.all ||= other.all
    for (const key of other.keys) this.keys.add(key)
  }

  has(key: string | number): boolean {
    return this.all || this.keys.has(key)
  }
}

interface Visit {
  readonly value: Json
  readonly path: string
  readonly errors: ErrorList
  /** null: no `unevaluated…` needs the keys. */
  readonly evaluated: EvaluatedKeys | null
}

type Rule = (visit: Visit) => void

interface Plan {
  readonly steps: number
  readonly rules: readonly Rule[]
  readonly unevaluatedItems: SchemaNode | undefined
  readonly unevaluatedProperties: SchemaNode | undefined
}

export class Evaluator {
  private readonly dialect: Dialect
  private readonly root: SchemaNode
  private readonly context: AssertionContext
  private readonly plans = new Map<SchemaNode, Plan>()

  constructor(dialect: Dialect, root: SchemaNode, context: AssertionContext) {
    this.dialect = dialect
    this.root = root
    this.context = context
  }

  /** Empty: the value is valid. Throws `StepsExhausted` if the steps do not suffice to find out. */
  errorsOf(value: Json): readonly ValueError[] {
    const errors = new ErrorList(MAX_ERRORS)
    this.context.steps.reset(MAX_STEPS)
    try {
      this.apply(this.root, { value, path: '', errors, evaluated: null })
    } catch (error) {
      // RangeError: schemas refer to one another too deeply for the stack.
      if (!(error instanceof StepsExhausted) && !(error instanceof RangeError)) throw error
      if (errors.isEmpty) throw new StepsExhausted()
    }
    return errors.values()
  }

  private apply(node: SchemaNode, visit: Visit): void {
    const plan = this.planOf(node)
    this.context.steps.spend(plan.steps)
    const { value, evaluated } = visit
    const rest = isList(value) ? plan.unevaluatedItems : isObject(value) ? plan.unevaluatedProperties : undefined
    if (rest === undefined) {
      this.applyRules(plan, visit)
      return
    }
    const own = new EvaluatedKeys()
    this.applyRules(plan, { ...visit, evaluated: own })
    for (const key of keysOf(value)) {
      if (visit.errors.isFull) return
      this.context.steps.spend(STEPS_PER_MEMBER)
      if (!own.has(key)) this.applyBelow(rest, visit, key)
    }
    evaluated?.addEvery()
  }

  private applyRules({ rules }: Plan, visit: Visit): void {
    for (const rule of rules) {
      if (visit.errors.isFull) return
      rule(visit)
    }
  }

  private applyBelow(node: SchemaNode, { value, path, errors }: Visit, key: string | number): void {
    const part = isList(value) ? value[Number(key)] : isObject(value) ? value[key] : undefined
    const partPath = typeof key === 'number' ? `${path}[${key}]` : memberPath(path, key)
    this.apply(node, { value: part ?? null, path: partPath, errors, evaluated: null })
  }

  private accepts(node: SchemaNode, value: Json, evaluated: EvaluatedKeys | null = null): boolean {
    const errors = new ErrorList(1)
    this.apply(node, { value, path: '', errors, evaluated })
    return errors.isEmpty
  }

  private report({ path, errors }: Visit, message: string, member?: string): void {
    this.context.steps.spend(STEPS_PER_ERROR)
    errors.add(member === undefined ? path : memberPath(path, member), message)
  }

  private noteEvaluated({ evaluated }: Visit, key: string | number): void {
    if (evaluated === null) return
    this.context.steps.spend(STEPS_PER_EVALUATED_KEY)
    evaluated.add(key)
  }

  private planOf(node: SchemaNode): Plan {
    const known = this.plans.get(node)
    if (known !== undefined) return known
    const plan: Plan = {
      steps: stepsOf(node),
      rules: this.rulesOf(node),
      unevaluatedItems: subschema(node, 'unevaluatedItems'),
      unevaluatedProperties: subschema(node, 'unevaluatedProperties'),
    }
    this.plans.set(node, plan)
    return plan
  }

  private rulesOf(node: SchemaNode): readonly Rule[] {
    const { schema, target } = node
    if (schema === true) return []
    if (schema === false) return [(visit) => this.report(visit, 'is not allowed')]
    const rules: Rule[] = target === null ? [] : [(visit) => this.apply(target, visit)]
    // In draft-07 a `$ref` hides the keywords beside it.
    if (target !== null && this.dialect === 'draft-07') return rules
    for (const [keyword, operand] of Object.entries(schema)) {
      if (keywordOf(this.dialect, keyword) === undefined) continue
      const assertion = assertionOf(keyword, operand, this.context)
      if (assertion !== undefined) {
        rules.push((visit) => assertion(visit.value, (message, member) => this.report(visit, message, member)))
      }
      const rule = this.sameValueRule(node, keyword)
      if (rule !== undefined) rules.push(rule)
    }
    return [...rules, ...this.partRules(node)]
  }

  /** Rules that apply subschemas to the value itself. */
  private sameValueRule(node: SchemaNode, keyword: string): Rule | undefined {
    const nodes = subschemas(node, keyword)
    const [[, first] = []] = nodes
    if (first === undefined) return undefined
    switch (keyword) {
      case 'allOf':
        return (visit) => nodes.forEach(([, inner]) => this.apply(inner, visit))
      case 'anyOf':
        return (visit) => this.applyAnyOf(nodes, visit)
      case 'oneOf':
        return (visit) => this.applyOneOf(nodes, visit)
      case 'not':
        return (visit) => {
          if (this.accepts(first, visit.value)) this.report(visit, 'must NOT be valid')
        }
      case 'if':
        return (visit) => this.applyIf(node, first, visit)
      case 'dependentSchemas':
      case 'dependencies':
        return (visit) => {
          for (const [key, inner] of nodes) {
            if (isObject(visit.value) && Object.hasOwn(visit.value, key)) this.apply(inner, visit)
          }
        }
      default:
        return undefined
    }
  }

  /** Returns the errors, or null if the value satisfies the alternative. */
  private tryAlternative(node: SchemaNode, visit: Visit): ErrorList | null {
    const errors = new ErrorList(visit.errors.limit)
    const evaluated = visit.evaluated === null ? null : new EvaluatedKeys()
    this.apply(node, { ...visit, errors, evaluated })
    if (!errors.isEmpty) return errors
    this.copyKeys(evaluated, visit)
    return null
  }

  /** Copying is work, too: each schema around an error copies it once more. */
  private copyErrors(lists: readonly ErrorList[], { errors }: Visit): void {
    for (const list of lists) {
      this.context.steps.spend(list.size * STEPS_PER_COPIED_ERROR)
      errors.addAll(list)
    }
  }

  private copyKeys(keys: EvaluatedKeys | null, { evaluated }: Visit): void {
    if (keys === null || evaluated === null) return
    this.context.steps.spend(keys.size * STEPS_PER_EVALUATED_KEY)
    evaluated.addAll(keys)
  }

  private applyAnyOf(nodes: readonly Subschema[], visit: Visit): void {
    const failures: ErrorList[] = []
    for (const [, inner] of nodes) {
      const errors = this.tryAlternative(inner, visit)
      if (errors !== null) failures.push(errors)
      else if (visit.evaluated === null) return
    }
    if (failures.length < nodes.length) return
    this.copyErrors(failures, visit)
    this.report(visit, 'must match a schema in anyOf')
  }

  private applyOneOf(nodes: readonly Subschema[], visit: Visit): void {
    const failures: ErrorList[] = []
    for (const [index, [, inner]] of nodes.entries()) {
      const errors = this.tryAlternative(inner, visit)
      if (errors !== null) failures.push(errors)
      else if (index > failures.length) break
    }
    if (failures.length === nodes.length - 1) return
    if (failures.length === nodes.length) this.copyErrors(failures, visit)
    this.report(visit, 'must match exactly one schema in oneOf')
  }

  private applyIf(node: SchemaNode, condition: SchemaNode, visit: Visit): void {
    const evaluated = visit.evaluated === null ? null : new EvaluatedKeys()
    const isMet = this.accepts(condition, visit.value, evaluated)
    if (isMet) this.copyKeys(evaluated, visit)
    const keyword = isMet ? 'then' : 'else'
    const branch = subschema(node, keyword)
    const errors = branch === undefined ? null : this.tryAlternative(branch, visit)
    if (errors === null) return
    this.copyErrors([errors], visit)
    this.report(visit, `must match "${keyword}" schema`)
  }

  /** Rules that apply subschemas to members or items. */
  private partRules(node: SchemaNode): readonly Rule[] {
    const rules: Rule[] = []
    const names = subschema(node, 'propertyNames')
    if (names !== undefined) rules.push((visit) => this.applyToNames(names, visit))
    const contains = subschema(node, 'contains')
    if (contains !== undefined) rules.push((visit) => this.applyContains(node, contains, visit))
    return [...rules, ...this.memberRules(node), ...this.itemRules(node)]
  }

  private memberRules(node: SchemaNode): readonly Rule[] {
    const properties = new Map(subschemas(node, 'properties'))
    const patterns = subschemas(node, 'patternProperties').flatMap(([source, inner]) => {
      const pattern = this.context.patterns.get(source)
      return pattern === undefined ? [] : [[pattern, inner] as const]
    })
    const additional = subschema(node, 'additionalProperties')
    if (properties.size + patterns.length === 0 && additional === undefined) return []
    const nodesFor = (name: string): readonly SchemaNode[] => {
      const own = properties.get(name)
      const matching = patterns.flatMap(([pattern, inner]) => (pattern.test(name) ? [inner] : []))
      const nodes = own === undefined ? matching : [own, ...matching]
      return nodes.length > 0 || additional === undefined ? nodes : [additional]
    }
    return [
      (visit) => {
        if (!isObject(visit.value)) return
        for (const name of Object.keys(visit.value)) {
          if (visit.errors.isFull) return
          this.context.steps.spend(STEPS_PER_MEMBER)
          const nodes = nodesFor(name)
          for (const inner of nodes) this.applyBelow(inner, visit, name)
          if (nodes.length > 0) this.noteEvaluated(visit, name)
        }
      },
    ]
  }

  private itemRules(node: SchemaNode): readonly Rule[] {
    // In draft-07 `items` may be a list, which `additionalItems` follows.
    const isDraft07 = this.dialect === 'draft-07'
    const lists = subschemas(node, isDraft07 ? 'items' : 'prefixItems')
    const isList07 = isDraft07 && typeof node.schema === 'object' && isList(node.schema['items'])
    const prefix = !isDraft07 || isList07 ? lists.map(([, inner]) => inner) : []
    const others = subschema(node, isList07 ? 'additionalItems' : 'items')
    if (prefix.length === 0 && others === undefined) return []
    return [
      (visit) => {
        if (!isList(visit.value)) return
        const count = others === undefined ? Math.min(prefix.length, visit.value.length) : visit.value.length
        for (let index = 0; index < count && !visit.errors.isFull; index += 1) {
          const inner = prefix[index] ?? others
          if (inner !== undefined) this.applyBelow(inner, visit, index)
          this.noteEvaluated(visit, index)
        }
      },
    ]
  }

  private applyToNames(node: SchemaNode, visit: Visit): void {
    if (!isObject(visit.value)) return
    for (const name of Object.keys(visit.value)) {
      if (visit.errors.isFull) return
      this.context.steps.spend(STEPS_PER_MEMBER)
      const errors = new ErrorList(visit.errors.limit)
      this.apply(node, { value: name, path: '', errors, evaluated: null })
      if (errors.isEmpty) continue
      for (const { message } of errors.values()) this.report(visit, `has a name that ${message}`, name)
      this.report(visit, 'has a name that is not allowed', name)
    }
  }

  private applyContains(node: SchemaNode, wanted: SchemaNode, visit: Visit): void {
    if (!isList(visit.value)) return
    const least = this.limitOf(node, 'minContains') ?? 1
    const most = this.limitOf(node, 'maxContains')
    let count = 0
    for (const [index, item] of visit.value.entries()) {
      if (this.accepts(wanted, item)) {
        count += 1
        this.noteEvaluated(visit, index)
      }
      if (visit.evaluated === null && (most === undefined ? count >= least : count > most)) break
    }
    if (count >= least && count <= (most ?? count)) return
    const limits = most === undefined ? `at least ${least}` : `at least ${least} and no more than ${most}`
    this.report(visit, `must contain ${limits} valid item(s)`)
  }

  private limitOf({ schema }: SchemaNode, keyword: string): number | undefined {
    if (typeof schema === 'boolean' || keywordOf(this.dialect, keyword) === undefined) return undefined
    const limit = schema[keyword]
    return typeof limit === 'number' ? limit : undefined
  }
}

function stepsOf({ schema }: SchemaNode): number {
  if (typeof schema === 'boolean') return 1
  const sizes = Object.values(schema).map((operand) =>
    typeof operand === 'object' && operand !== null ? Object.keys(operand).length : 1,
  )
  return sizes.reduce((sum, size) => sum + size, 1)
}

function keysOf(value: Json): readonly (string | number)[] {
  return isList(value) ? [...value.keys()] : isObject(value) ? Object.keys(value) : []
}

/** The key is empty for the only subschema of a keyword. */
type Subschema = readonly [key: string, node: SchemaNode]

function subschemas({ inside }: SchemaNode, keyword: string): readonly Subschema[] {
  return inside.flatMap((place) => (place.keyword === keyword ? [[String(place.key ?? ''), place.node] as const] : []))
}

function subschema({ inside }: SchemaNode, keyword: string): SchemaNode | undefined {
  return inside.find((place) => place.keyword === keyword)?.node
}
