/**
 * Replaces array places in messages of the API by line numbers of the export, which count from 0 as the field `line` does.
 * `firstLine`: the line number of `records[0]`.
 */
export function withLineNumbers(message: string, firstLine = 0): string {
  return (
    message
      .replaceAll(/\b(records|lines)\[(\d+)\](\.(?=\w))?/g, (_, array: string, index: string, dot?: string) => {
        const line = Number(index) + (array === 'records' ? firstLine : 0)
        return `line ${line}${dot === undefined ? '' : ', '}`
      })
      // The message after the place may repeat the line.
      .replaceAll(/(line \d+)((?:, \S+)?): \1: /g, '$1$2: ')
  )
}
