/** The frameworks of compliance assertions: names, each with its controls. */
import { ok, refuse, type Result } from '../../actors/result.ts'
import { type Control, CONTROLS } from '../../runtime/audit/finding.ts'

export interface Framework {
  readonly name: string
  readonly controls: readonly Control[]
}

/** Has all controls. */
export const DEFAULT_FRAMEWORK = 'ledger-integrity-1'
const MOST_FRAMEWORKS = 16
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

const ALLOWED = `1 to ${MOST_FRAMEWORKS} names with commas between them, each alone (all controls) or as name=control+control, of ${CONTROLS.join(', ')}`

export function readFrameworks(text: string): Result<readonly Framework[], string> {
  const read = text.split(',').map(frameworkOf)
  const frameworks = read.filter((framework) => framework !== undefined)
  const names = new Set(frameworks.map(({ name }) => name))
  const isValid = frameworks.length === read.length && names.size === read.length && read.length <= MOST_FRAMEWORKS
  return isValid ? ok(frameworks) : refuse(ALLOWED)
}

function frameworkOf(text: string): Framework | undefined {
  const [name = '', ...rest] = text.trim().split('=')
  if (!NAME.test(name) || rest.length > 1) return undefined
  const [listed] = rest
  if (listed === undefined) return { name, controls: CONTROLS }
  const controls = listed.split('+').map((control) => CONTROLS.find((known) => known === control.trim()))
  const known = controls.filter((control) => control !== undefined)
  return known.length === controls.length && new Set(known).size === known.length
    ? { name, controls: known }
    : undefined
}
