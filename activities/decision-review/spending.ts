import { sentenceOf } from '../../domain/budgets/use';
import type { ReviewRecord } from '../../domain/decision-reviews/record';
import { compact } from '../../platform/json/compact';
import type { Board } from '../../stores/board-files/types';
import type { Budgets } from '../../stores/governance/budgets/budgets';

export interface ReviewBudgets extends Pick<Budgets, 'usesOfRun'> {
  ledger: Pick<Budgets['ledger'], 'record'>;
}

/** What an answer of a model has used. */
interface Answered {
  /** The same for an answer that is counted again. */
  key: string;
  usage: { inputTokens: number; outputTokens: number; cost?: number | undefined } | undefined;
  at: string;
}

/** What the models of a review use, of the budgets of its task, of the task's project and of the workspace. */
export function reviewSpending({ board, budgets }: { board: Pick<Board, 'get'>; budgets: ReviewBudgets }) {
  const spenderOf = async ({ taskId }: ReviewRecord) => ({
    taskId,
    ...compact({ project: (await board.get(taskId))?.task.project }),
  });

  return {
    /** A sentence about the budget that is used up; `undefined` while a model may be asked. */
    async problem(review: ReviewRecord): Promise<string | undefined> {
      const uses = await budgets.usesOfRun(await spenderOf(review));
      const exhausted = uses.find(({ status }) => status === 'exhausted');
      return exhausted && sentenceOf(exhausted);
    },

    /** Counts an answer, once however often it is called. */
    async count(review: ReviewRecord, { key, usage, at }: Answered): Promise<void> {
      if (!usage) {
        return;
      }
      const { inputTokens, outputTokens, cost = 0 } = usage;
      const spent = { tokens: inputTokens + outputTokens, costUsd: cost };
      await budgets.ledger.record([{ key, ...spent, at, attemptId: review.id, ...(await spenderOf(review)) }]);
    },
  };
}
