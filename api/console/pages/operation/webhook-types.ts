import type { RequestOf } from '../../../client/index.ts'

export type WebhookTypes = NonNullable<RequestOf<'createWebhook'>['body']['types']>

/** Types separated by commas or spaces. The ledger refuses those that it does not know. */
export function typesIn(text: string): WebhookTypes {
  return text.split(/[\s,]+/).filter((type) => type !== '') as unknown[] as WebhookTypes
}
