import { useState } from 'preact/hooks'
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
  readonly verify: () => Promise<Finding>
  readonly onFinding?: (finding: Finding) => void
}

/** Checks in this browser, and says what is proved and what is not. */
export function VerifyButton({ label, verify, onFinding }: VerifyButtonProps) {
  const [progress, setProgress] = useState<Progress>({ state: 'unasked' })
  const start = (): void => {
    setProgress({ state: 'checking' })
    verify().then(
      (finding) => {
        setProgress({ state: 'done', finding })
        onFinding?.(finding)
      },
      (error: unknown) => setProgress({ state: 'failed', error }),
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
