/** Examples of an account's actor: as the end-to-end walk sees them. */
import type { Examples } from '../model/operation.ts'

const ACTOR = {
  account_id: 'bob@example',
  state: 'active',
  paused: false,
  shard_id: 160,
  owner: 'node-1',
  version: 20,
  holds: 0,
  pending_count: 0,
  resident: true,
  mailbox_length: 1,
}

const CLOSED = {
  as: 'admin',
  path: { accountId: 'erin@example' },
  answer: {
    kind: 'problem',
    type: 'conflict',
    detail: 'The account is closed.',
    codes: ['ERR_CONFLICT'],
    errors: null,
    outcome: null,
    headers: {},
  },
} as const

export const GET_ACCOUNT_ACTOR_EXAMPLES: Examples = {
  bob: {
    summary: 'An account at rest',
    as: 'admin',
    path: { accountId: 'bob@example' },
    answer: { status: 200, body: ACTOR },
  },
}

export const PAUSE_ACCOUNT_EXAMPLES: Examples = {
  bob: {
    summary: 'What an account sends is stopped',
    as: 'admin',
    path: { accountId: 'bob@example' },
    body: { reason: 'its key may have been stolen' },
    answer: { status: 200, body: { ...ACTOR, paused: true, version: 21 } },
  },
  closed: { summary: 'A closed account', body: { reason: 'its key may have been stolen' }, ...CLOSED },
}

export const RESUME_ACCOUNT_EXAMPLES: Examples = {
  bob: {
    summary: 'It goes on',
    as: 'admin',
    path: { accountId: 'bob@example' },
    body: { reason: 'its key was rotated' },
    answer: { status: 200, body: { ...ACTOR, version: 22 } },
  },
  closed: { summary: 'A closed account', body: { reason: 'its key was rotated' }, ...CLOSED },
}
