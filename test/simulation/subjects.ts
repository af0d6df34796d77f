/** The kinds of messages on a node's subjects. */
export type SubjectKind = 'items' | 'deliveries' | 'control'

export function subjectKind(subject: string): SubjectKind {
  if (subject.endsWith('.deliveries')) return 'deliveries'
  return subject.endsWith('.control') ? 'control' : 'items'
}

export function isDelivery(subject: string): boolean {
  return subjectKind(subject) === 'deliveries'
}
