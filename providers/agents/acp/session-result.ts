import { completionClaims } from '../../../contracts/runs/completion';
import { cut } from '../../../platform/text/cut';
import { printable } from '../../../platform/text/printable';
import type { ReportedResult } from '../provider';
import type { AcpSession, SessionEnd } from './session';

const longestSummary = 20_000;

const judgements: Record<SessionEnd['stopReason'], { status: ReportedResult['status']; sentence: string }> = {
  end_turn: { status: 'success', sentence: 'The agent ended its turn.' },
  cancelled: { status: 'partial', sentence: 'The agent aborted its turn.' },
  max_tokens: { status: 'partial', sentence: 'The agent ran out of tokens.' },
  max_turn_requests: { status: 'partial', sentence: 'The agent reached the limit of requests in one turn.' },
  refusal: { status: 'failed', sentence: 'The agent refused to continue.' },
};

const asked = {
  interrupt: 'The agent was interrupted by an operator.',
  close: 'The conversation was closed by an operator.',
  archive: 'The conversation was archived by an operator.',
} as const;

/** The result of the run, by the end of its session. */
export function resultOf(
  { stopReason, asked: by }: SessionEnd,
  lastMessage: string,
): Pick<ReportedResult, 'status' | 'summary'> {
  const { status, sentence } = judgements[stopReason];
  if (stopReason === 'end_turn') {
    return { status, summary: summaryOf(lastMessage === '' ? sentence : lastMessage) };
  }
  const interrupted = stopReason === 'cancelled' && by !== undefined;
  const words = interrupted ? asked[by] : sentence;
  return {
    status: interrupted ? 'interrupted' : status,
    summary: summaryOf(lastMessage === '' ? words : `${words}\n\n${lastMessage}`),
  };
}

/** How the session can be continued, when the agent supports that. */
export function continuationOf({
  sessionId,
  abilities,
}: Pick<AcpSession, 'sessionId' | 'abilities'>): Pick<ReportedResult, 'continuation'> {
  const resumable = abilities?.loadSession === true || Boolean(abilities?.sessionCapabilities?.resume);
  if (!resumable) {
    return {};
  }
  const { data } = completionClaims.shape.continuation.safeParse({
    provider: 'acp',
    kind: 'session',
    reference: sessionId,
  });
  return data === undefined ? {} : { continuation: data };
}

const summaryOf = (text: string): string => cut(printable(text), longestSummary);
