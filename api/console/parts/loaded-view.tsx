import type { ComponentChildren } from 'preact'
import { failureText } from './failure-text.ts'
import { Text } from './text.tsx'
import type { Loaded } from './loaded.ts'

interface LoadedViewProps<Value> {
  readonly of: Loaded<Value>
  /** Of what is loaded, such as `the account`. */
  readonly name: string
  readonly children: (value: Value) => ComponentChildren
}

/** The value once it is there; before that a sign that it comes, or why it does not. */
export function LoadedView<Value>({ of: loaded, name, children }: LoadedViewProps<Value>) {
  if (loaded.state === 'done') return <>{children(loaded.value)}</>
  if (loaded.state === 'failed') return <Failure error={loaded.error} action={`Loading ${name}`} />
  return (
    <p class="loading" role="status">
      Loading {name} …
    </p>
  )
}

/** `action`: such as `Loading the account`. */
export function Failure({ error, action }: { readonly error: unknown; readonly action: string }) {
  const { summary, advice, requestId } = failureText(error)
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>{action} failed.</strong> <Text value={summary} />
      </p>
      {advice !== undefined && <p>{advice}</p>}
      {requestId !== undefined && (
        <p class="quiet">
          Request <code>{requestId}</code>
        </p>
      )}
    </div>
  )
}
