import { useEffect, useRef, useState } from 'preact/hooks'
import { download } from './download.ts'
import { Failure } from './loaded-view.tsx'

interface DownloadButtonProps {
  /** Such as `Download as CSV`. */
  readonly label: string
  readonly fileName: string
  readonly type: string
  /** The whole file. The signal ends a download that is no longer wanted. */
  readonly read: (signal: AbortSignal) => Promise<string>
}

/** Reads a file from the ledger, and gives it to the browser only if it is complete. */
export function DownloadButton({ label, fileName, type, read }: DownloadButtonProps) {
  const [isReading, setReading] = useState(false)
  const [error, setError] = useState<unknown>()
  const stopRef = useRef<AbortController>(undefined)
  useEffect(() => () => stopRef.current?.abort(), [])
  const start = (): void => {
    const { signal } = (stopRef.current = new AbortController())
    setReading(true)
    setError(undefined)
    read(signal).then(
      (text) => {
        if (signal.aborted) return
        setReading(false)
        download(fileName, type, text)
      },
      (reason: unknown) => {
        if (signal.aborted) return
        setReading(false)
        setError(reason)
      },
    )
  }
  return (
    <div>
      <button type="button" disabled={isReading} onClick={start}>
        {isReading ? 'Downloading …' : label}
      </button>
      {error !== undefined && <Failure error={error} action="The download" />}
    </div>
  )
}
