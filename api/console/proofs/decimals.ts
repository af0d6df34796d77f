import { formatQuantity, parseQuantity } from '../../../actors/money.ts'

/** The sum of two decimal strings. */
export function addDecimals(one: string, other: string): string {
  return formatQuantity(parseQuantity(one) + parseQuantity(other))
}

export function sameDecimal(one: string, other: string): boolean {
  return parseQuantity(one) === parseQuantity(other)
}
