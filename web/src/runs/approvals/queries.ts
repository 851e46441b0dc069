import { queryOptions } from '@tanstack/react-query';
import { board, type RunApproval, unwrap } from '../../api/client';
import { keys } from '../../api/keys';

/** What waits for a decision, and what was decided lately. */
export const approvalsQuery = queryOptions({
  queryKey: keys.approvals,
  queryFn: (): Promise<RunApproval[]> => unwrap(board.GET('/api/run-approvals', { params: { query: { limit: 100 } } })),
});
