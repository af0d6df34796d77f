/** Real shells complete the words of the command tree. A shell that is not installed is left out. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { commandLine } from './cli-fixture.ts'

const { run, cwd, write } = commandLine()
write('some.pem', 'a file')

type Shell = 'bash' | 'zsh' | 'fish'

/** Calls the function of the script as the shell would, with the words up to the cursor, and prints the suggestions. */
const CALLS: Readonly<Record<Shell, readonly string[]>> = {
  bash: [
    '-c',
    'eval "$SCRIPT"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ledger; printf "%s\\n" "${COMPREPLY[@]}"',
    'bash',
  ],
  zsh: [
    '-f',
    '-c',
    `compdef() {}; _describe() { print -rl -- "\${(@)\${(P@)2}%%:*}" }; _files() { print -l * }
     eval "$SCRIPT"; words=("$@"); CURRENT=$#; _ledger`,
    'zsh',
  ],
  fish: ['--no-config', '-c', 'echo $SCRIPT | source; complete -C "$argv" | string replace -r "\\t.*" ""'],
}

function hasShell(shell: Shell): boolean {
  return spawnSync(shell, ['-c', 'exit 0']).status === 0
}

async function suggested(shell: Shell, ...words: readonly string[]): Promise<readonly string[]> {
  const { out: script } = await run(['completion', shell])
  const env = { ...process.env, SCRIPT: script }
  const args = [...CALLS[shell], ...words]
  const { stdout, stderr } = spawnSync(shell, args, { cwd, env, encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((line) => line !== '')
}

async function expectWords(shell: Shell): Promise<void> {
  expect(await suggested(shell, 'ledger', 'keys', '')).toEqual(
    expect.arrayContaining(['part-key', 'revoke', 'rotate', 'rotate-master']),
  )
  expect(await suggested(shell, 'ledger', 'keys', 'rotate', '--')).toEqual(
    expect.arrayContaining(['--after', '--purpose']),
  )
  expect(await suggested(shell, 'ledger', 'keys', 'rotate', '--purpose', '')).toEqual(
    expect.arrayContaining(['assertion', 'receipt', 'token']),
  )
  expect(await suggested(shell, 'ledger', 'completion', '')).toEqual(expect.arrayContaining(['bash', 'fish', 'zsh']))
  expect(await suggested(shell, 'ledger', 'sign', '--key', 'some')).toEqual(['some.pem'])
}

test.runIf(hasShell('bash'))('bash completes commands, options, values and files', () => expectWords('bash'))
test.runIf(hasShell('zsh'))('zsh completes commands, options, values and files', () => expectWords('zsh'))
test.runIf(hasShell('fish'))('fish completes commands, options, values and files', () => expectWords('fish'))

test('every command has a summary in the scripts, and no quote ends a word early', async () => {
  const { out } = await run(['completion', 'fish'])
  expect(out).toContain("-a 'verify' -d 'verify accounts, receipts, statements, exports and checkpoints'")
  expect(out.split('\n').filter((line) => line.startsWith('complete') && line.split("'").length % 2 === 0)).toEqual([])
})
