import { useState } from 'preact/hooks'
import { codeText, groupedDigits, shownTime } from './figures.ts'
import { shownText } from './shown-text.ts'

const LIMIT = 400
const WHOLE = 100_000

interface TextProps {
  readonly value: string
  readonly limit?: number
  /** Within a link there is no button for the rest. */
  readonly isInLink?: boolean
}

/** Text that somewhere a client chose. It cannot change the text around it. */
export function Text({ value, limit = LIMIT, isInLink = false }: TextProps) {
  const [isWhole, setWhole] = useState(false)
  const { parts, left } = shownText(value, isWhole ? WHOLE : limit)
  return (
    <bdi class="text">
      {parts.map(({ text, isEscape }, index) => (
        <span key={index} class={isEscape ? 'escape' : undefined}>
          {text}
        </span>
      ))}
      {left > 0 && (
        <>
          {isInLink ? '…' : '… '}
          {isInLink ? null : isWhole ? (
            `${left.toLocaleString('en-US')} more characters`
          ) : (
            <button type="button" class="link" onClick={() => setWhole(true)}>
              {left.toLocaleString('en-US')} more
            </button>
          )}
        </>
      )}
    </bdi>
  )
}

/** An ID or a hash, on one line; with `href` a link. */
export function Id({ value, href }: { readonly value: string; readonly href?: string }) {
  const text = <bdi>{shownText(value, LIMIT).parts.map(({ text }) => text)}</bdi>
  return href === undefined ? (
    <code class="id" title={value}>
      {text}
    </code>
  ) : (
    <a class="id" href={href} title={value}>
      {text}
    </a>
  )
}

export function Amount({ value, unit }: { readonly value: string; readonly unit?: string | undefined }) {
  return (
    <span class="amount">
      {groupedDigits(value)}
      {unit !== undefined && (
        <>
          {' '}
          <small>
            <Text value={unit} />
          </small>
        </>
      )}
    </span>
  )
}

export function Time({ value }: { readonly value: string | null | undefined }) {
  if (value === null || value === undefined) return <span class="quiet">none</span>
  return (
    <time dateTime={value} title={`${value} (UTC)`}>
      {shownTime(value)}
    </time>
  )
}

const GOOD = new Set([
  'completed',
  'settled',
  'active',
  'healthy',
  'ready',
  'delivered',
  'passed',
  'captured',
  'accept',
])
const BAD = new Set([
  'failed',
  'reverted',
  'closed',
  'unavailable',
  'not_ready',
  'failing',
  'disabled',
  'burned',
  'revoked',
])

/** A status in its color, and in words. */
export function Status({ value }: { readonly value: string }) {
  const kind = GOOD.has(value) ? 'good' : BAD.has(value) ? 'bad' : 'waiting'
  return <span class={`status ${kind}`}>{codeText(value)}</span>
}
