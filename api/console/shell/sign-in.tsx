import { useRef, useState } from 'preact/hooks'
import { Field } from '../parts/field.tsx'
import { Failure } from '../parts/loaded-view.tsx'
import { type GivenClient, readClients } from '../session/given-clients.ts'
import { type Session, signIn } from '../session/session.ts'
import { ThemeSwitch } from './theme.tsx'

type Progress = { readonly state: 'waiting' | 'busy' } | { readonly state: 'failed'; readonly error: unknown }

/** The secret stays in memory: neither a cookie nor a store of the browser gets it. */
export function SignIn({ onSession }: { readonly onSession: (session: Session) => void }) {
  const [clients, setClients] = useState<readonly GivenClient[]>([])
  const [progress, setProgress] = useState<Progress>({ state: 'waiting' })
  const enter = (id: string, clientSecret: string): void => {
    setProgress({ state: 'busy' })
    signIn({ clientId: id, clientSecret }).then(onSession, (error: unknown) => setProgress({ state: 'failed', error }))
  }
  const take = (text: string): boolean => {
    const found = readClients(text)
    if (found.length > 0) {
      setClients(found)
      setProgress({ state: 'waiting' })
    }
    return found.length > 0
  }
  return (
    <div class="sign-in">
      <header>
        <ThemeSwitch />
      </header>
      <main>
        <h1>Ledger console</h1>
        <p class="intro">Look at accounts and transactions, and check every figure in this browser.</p>
        <SignInForm progress={progress} take={take} enter={enter} />
        <FirstStart clients={clients} isBusy={progress.state === 'busy'} take={take} enter={enter} />
      </main>
    </div>
  )
}

interface SignInFormProps {
  readonly progress: Progress
  /** False unless the text is a list of clients. */
  readonly take: (text: string) => boolean
  readonly enter: (clientId: string, secret: string) => void
}

function SignInForm({ progress, take, enter }: SignInFormProps) {
  const [clientId, setClientId] = useState('admin')
  const [secret, setSecret] = useState('')
  const isBusy = progress.state === 'busy'
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault()
        enter(clientId.trim(), secret.trim())
      }}
    >
      <h2>Sign in as a client</h2>
      <Field label="Client ID" value={clientId} onValue={setClientId} choices={['admin', 'transactor', 'viewer']} />
      <label>
        Client secret
        <input
          type="password"
          required
          autocomplete="off"
          value={secret}
          onInput={({ currentTarget }) => setSecret(take(currentTarget.value) ? '' : currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary" disabled={isBusy}>
        {isBusy ? 'Signing in …' : 'Sign in'}
      </button>
      {progress.state === 'failed' && (
        <>
          <Failure error={progress.error} action="The sign-in" />
          <p>Each client ID has a secret of its own.</p>
        </>
      )}
      <p class="quiet">The secret and the tokens stay in the memory of this page. A reload signs you out.</p>
    </form>
  )
}

interface FirstStartProps {
  readonly clients: readonly GivenClient[]
  readonly isBusy: boolean
  readonly take: (text: string) => boolean
  readonly enter: (clientId: string, secret: string) => void
}

/** Where the secrets are after a first start on this machine. */
function FirstStart({ clients, isBusy, take, enter }: FirstStartProps) {
  const [isUnreadable, setUnreadable] = useState(false)
  const file = useRef<HTMLInputElement>(null)
  const read = async (chosen: File | undefined): Promise<void> => {
    if (chosen !== undefined) setUnreadable(!take(await chosen.text()))
  }
  return (
    <section
      class="panel"
      aria-label="First start"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        void read(event.dataTransfer?.files[0])
      }}
    >
      <h2>Just started the ledger?</h2>
      <p>
        <code>npm start</code> made three clients and printed their secrets. They are also in{' '}
        <code>.ledger/clients.json</code>, in the directory of the ledger. Show them with
      </p>
      <pre>cat .ledger/clients.json</pre>
      <p>Paste a printed line, or the whole file, as the client secret. Or choose the file:</p>
      <input
        ref={file}
        type="file"
        aria-label="clients.json"
        accept=".json"
        onChange={() => void read(file.current?.files?.[0])}
      />
      <div role="status">
        {isUnreadable && <p class="notice bad">This file has no clients. Choose the clients.json of the ledger.</p>}
        {clients.length > 0 && (
          <div class="choices">
            {clients.map(({ clientId, role, secret }) => (
              <button
                key={clientId}
                type="button"
                class="primary"
                disabled={isBusy}
                onClick={() => enter(clientId, secret)}
              >
                Sign in as {clientId}
                {role === clientId ? '' : ` (${role})`}
              </button>
            ))}
          </div>
        )}
      </div>
    </section>
  )
}
