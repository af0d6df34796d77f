/** The headers of answers, as the document describes them. */
export const HEADERS = {
  'X-Request-Id': 'The ID of the request: the one that the client gave, or a new one. Quote it when you ask for help.',
  Location: 'The address of what was created.',
  'Idempotency-Replayed': '`true`: this is the answer that an earlier request got; nothing was done again.',
  'Idempotency-Payload-Mismatch': '`true`: the key belongs to an earlier request with another payload.',
  'Preference-Applied': 'How long the service was ready to wait: `wait=N`, in seconds.',
  'X-Total-Count-Relation': '`gte`: `total_count` is a lower bound.',
  ETag: 'Changes when the content does. Sent back as `If-None-Match`, it is answered 304 while it has not.',
  'Retry-After': 'Seconds to let pass before the next attempt.',
  'WWW-Authenticate': 'The scheme that is expected, and what is wrong with the token (RFC 6750).',
} as const

export type AnswerHeader = keyof typeof HEADERS
