/** Adds all entries of a loaded ledger to its log, and publishes its head, by the code of an edge. */
import { noteText } from '../../../api/client/log/signed-note.ts'
import type { DeriveKey } from '../../../infra/keys/root-secret.ts'
import { createNoteSigner, signedHead } from '../../../infra/log/log-signer.ts'
import { createLogStore } from '../../../infra/log/log-store-postgres.ts'
import { createSystemClock } from '../../../infra/system/clock-system.ts'
import { LogSequencer, type TreeHead } from '../../../runtime/log/sequencer.ts'

interface LoadedLog {
  readonly url: string
  readonly ledgerId: string
  readonly derive: DeriveKey
  /** Number of entries in all chains. */
  readonly entries: number
  readonly say: (line: string) => void
}

/** Throws an error that names what the sequencer reported, if it adds too few entries or too many. */
export async function extendLog({ url, ledgerId, derive, entries, say }: LoadedLog): Promise<void> {
  const signer = await createNoteSigner(`ledger/${ledgerId}`, 'log', derive('log-heads'))
  const store = createLogStore({ url, logKey: derive('log-entries') })
  try {
    say('extending the log ...')
    const { size, root } = await wholeHead(store, entries)
    const note = noteText(signedHead(signer, { size, root: new Uint8Array(root) }))
    await store.publish({ size, note })
  } finally {
    await store.close()
  }
}

async function wholeHead(store: ReturnType<typeof createLogStore>, entries: number): Promise<TreeHead> {
  let sequencer: LogSequencer | undefined
  try {
    const head = await new Promise<TreeHead>((resolve, reject) => {
      const report = (event: string): void => reject(new Error(`the log was not extended: ${event}`))
      sequencer = new LogSequencer({
        store,
        holder: 'load',
        clock: createSystemClock(),
        log: { info: () => undefined, warn: report, error: report },
        onHead: (reached) => {
          if (reached.size >= entries) resolve(reached)
        },
      })
      sequencer.start()
    })
    if (head.size > entries) throw new Error(`the log has ${head.size} entries, and the chains have ${entries}`)
    return head
  } finally {
    await sequencer?.stop()
  }
}
