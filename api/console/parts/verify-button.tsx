import { useEffect, useRef, useState } from 'preact/hooks'
import type { Finding } from '../proofs/finding.ts'
import { Failure } from './loaded-view.tsx'
import { Text } from './text.tsx'

type Progress =
  | { readonly state: 'unasked' | 'checking' }
  | { readonly state: 'done'; readonly finding: Finding }
  | { readonly state: 'failed'; readonly error: unknown }

interface VerifyButtonProps {
  /** Such as `Verify the chain`. */
  readonly label: string
  /** The signal ends a check whose result is no longer wanted. */
  readonly verify: (signal: AbortSignal) => Promise<Finding>
  /** The data that is checked. Other data has no result yet. */
  readonly subject: unknown
}

/** Checks in this browser, and says what is proved and what is not. */
export function VerifyButton({ label, verify, subject }: VerifyButtonProps) {
  const [last, setLast] = useState<{ readonly subject: unknown; readonly progress: Progress }>()
  const stopRef = useRef<AbortController>(undefined)
  useEffect(() => () => stopRef.current?.abort(), [subject])
  const progress: Progress = last !== undefined && last.subject === subject ? last.progress : { state: 'unasked' }
  const start = (): void => {
    stopRef.current?.abort()
    const { signal } = (stopRef.current = new AbortController())
    const show = (next: Progress): void => {
      if (!signal.aborted) setLast({ subject, progress: next })
    }
    show({ state: 'checking' })
    verify(signal).then(
      (finding) => show({ state: 'done', finding }),
      (error: unknown) => show({ state: 'failed', error }),
    )
  }
  return (
    <div class="verify">
      <button type="button" class="primary" disabled={progress.state === 'checking'} onClick={start}>
        {progress.state === 'checking' ? 'Checking …' : label}
      </button>
      <div role="status">{progress.state === 'done' && <FindingView finding={progress.finding} />}</div>
      {progress.state === 'failed' && <Failure error={progress.error} action="The check" />}
    </div>
  )
}

const TITLES: Readonly<Record<Finding['outcome'], string>> = {
  verified: 'Verified in this browser',
  tampered: 'Tampered: do not rely on it',
  unproved: 'Not proved',
}
const KINDS: Readonly<Record<Finding['outcome'], string>> = { verified: 'good', tampered: 'bad', unproved: 'warn' }

export function FindingView({ finding }: { readonly finding: Finding }) {
  const { outcome, problem, proved, unproved } = finding
  return (
    <div class={`notice ${KINDS[outcome]}`} data-outcome={outcome}>
      <p>
        <strong>{TITLES[outcome]}</strong>
      </p>
      {problem !== undefined && (
        <p>
          <Text value={problem} />
        </p>
      )}
      <Sentences title="Proved" sentences={proved} />
      <Sentences title="Not proved" sentences={unproved} />
    </div>
  )
}

function Sentences({ title, sentences }: { readonly title: string; readonly sentences: readonly string[] }) {
  if (sentences.length === 0) return null
  return (
    <>
      <p class="list-title">{title}</p>
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>
            <Text value={sentence} limit={1_000} />
          </li>
        ))}
      </ul>
    </>
  )
}
