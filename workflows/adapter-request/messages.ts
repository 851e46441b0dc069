/** What is asked of the other side of an adapter while a caller waits; nothing is sent to people there. */
export type AdapterQuestion = { kind: 'probe' } | { kind: 'poll' } | { kind: 'definitions' };

/** An adapter, whose addresses and credentials are read where they are used. */
export interface AdapterRequestInput {
  adapterId: string;
  /** The revision that the caller has seen. */
  revision: number;
  question: AdapterQuestion;
}

/** One at a time for each question: a request that is repeated joins it. */
export const adapterRequestId = ({ adapterId, revision, question }: AdapterRequestInput): string =>
  `adapter-${question.kind}/${adapterId}/${revision}`;
