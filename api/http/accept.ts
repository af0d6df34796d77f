/** Whether a client asks for another representation than the default one (RFC 9110, 12.5.1). */

const WEIGHT = /^(0(\.[0-9]{0,3})?|1(\.0{0,3})?)$/

/**
 * `accept`: the header as it came. The other one has to be named, and preferred to the usual one: to `*` and to a lower
 * weight it always is, to an equal weight only if the usual one is not named as well.
 */
export function prefers(accept: string | undefined, other: string, usual: string): boolean {
  if (accept === undefined) return false
  // A media type with an ill-formed weight counts as refused: the client did not mean to ask for it.
  const weights = weightsIn(accept, 0)
  const asked = weights.get(other) ?? 0
  const [usualKind = ''] = usual.split('/')
  const named = weights.get(usual)
  const fallback = named ?? weights.get(`${usualKind}/*`) ?? weights.get('*/*') ?? 0
  return asked > 0 && (asked > fallback || (asked === fallback && named === undefined))
}

/**
 * By media type or coding, in lower case. Parameters other than the weight make no difference: the types asked for have
 * none. `malformed`: the weight that an ill-formed one counts as.
 */
export function weightsIn(accept: string, malformed: 0 | 1): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const written = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length) ?? '1'
    const weight = WEIGHT.test(written) ? Number(written) : malformed
    weights.set(type, Math.max(weights.get(type) ?? 0, weight))
  }
  return weights
}
