import { cut } from '../../../platform/text/cut';
import type { BoardAttempt, BoardClient, BoardRecovery } from './board-client';
import type { AgentAttempt, AgentEnd, AgentProgress, AgentUsage } from './messages';

const nothingUsed: AgentUsage = { input_tokens: 0, output_tokens: 0, cost: 0 };
/** The part of a summary that a run stores among its values, in characters. */
const storedCharacters = 8_000;

/** Where an attempt is, and those that have followed it by recovery. */
export async function followAttempt(
  board: Pick<BoardClient, 'attempt' | 'recovery'>,
  { taskId, attemptId: first }: Pick<AgentAttempt, 'taskId' | 'attemptId'>,
): Promise<AgentProgress> {
  let used = nothingUsed;
  const seen = new Set<string>();
  for (let attemptId = first; ;) {
    seen.add(attemptId);
    const attempt = await board.attempt({ taskId, attemptId });
    if (attempt.state !== 'ended' && attempt.state !== 'refused') {
      return { attemptId, agent: attempt.agent, used, state: attempt.state === 'queued' ? 'waiting' : 'running' };
    }
    // The recovery is stored before the end: one that has ended without has none.
    const recovery = await board.recovery(taskId);
    const next = followerOf(attempt, recovery);
    if (next === 'pending') {
      return { attemptId, agent: attempt.agent, used, state: 'waiting' };
    }
    used = sum(used, attempt.usage);
    if (next === undefined || seen.has(next)) {
      return { attemptId, agent: attempt.agent, used, state: 'ended', end: endOf(attempt, recovery) };
    }
    attemptId = next;
  }
}

/** The attempt that follows one, `pending` when it is to come. */
function followerOf({ id, rootAttemptId }: BoardAttempt, recovery: BoardRecovery | undefined): string | undefined {
  if (recovery?.attemptId !== id) {
    // Later ones of the same chain have followed it, and failed, meanwhile; that of the one before it leads to it.
    const isLater = recovery?.rootAttemptId === rootAttemptId && recovery.nextAttemptId !== id;
    return isLater ? recovery.attemptId : undefined;
  }
  if (recovery.state === 'scheduled' || recovery.state === 'launching') {
    return 'pending';
  }
  return recovery.state === 'launched' ? recovery.nextAttemptId : undefined;
}

function endOf({ id, completion, refusal }: BoardAttempt, recovery: BoardRecovery | undefined): AgentEnd {
  if (!completion) {
    return { status: 'refused', summary: refusal ? `${refusal.code}: ${refusal.message}` : 'The board refused it.' };
  }
  const { status, summary, error, harness } = completion;
  const handedOver = recovery?.attemptId === id && recovery.state === 'approval-required' ? ` ${recovery.reason}` : '';
  const text = status === 'success' ? summary : `${error ?? summary}${handedOver}`;
  const commit = harness?.committed?.sha ?? harness?.headSha;
  return { status, summary: cut(text, storedCharacters), ...(commit !== undefined && { commit }) };
}

const sum = (used: AgentUsage, more: BoardAttempt['usage']): AgentUsage => ({
  input_tokens: used.input_tokens + (more?.inputTokens ?? 0),
  output_tokens: used.output_tokens + (more?.outputTokens ?? 0),
  cost: used.cost + (more?.cost ?? 0),
});
