import { sentBackBy } from '../../../domain/review/state';
import type { Board } from '../../../stores/board-files/board';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { ReviewStore } from '../../../stores/tasks/review-store';

interface SentBackDependencies {
  board: Pick<Board, 'get'>;
  reviews: Pick<ReviewStore, 'record'>;
}

/** Records the decision that a follow-up of a reviewed attempt is, once. */
export async function recordSentBack({ board, reviews }: SentBackDependencies, record: AttemptRecord): Promise<void> {
  if (record.parentAttemptId === undefined && !record.conversation) {
    return;
  }
  const task = (await board.get(record.taskId))?.task;
  const decision = task && sentBackBy(task, record);
  if (decision) {
    await reviews.record(decision);
  }
}
